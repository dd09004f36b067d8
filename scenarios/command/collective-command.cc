// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/collective-sweep.h"
#include "scenarios/command/commands.h"
#include "scenarios/input-error.h"
#include "scenarios/nearest-name.h"
#include "scenarios/output-file.h"
#include "scenarios/read-system.h"
#include "scenarios/size-list.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

namespace weir
{

namespace
{

struct CollectiveOptions
{
    std::string system;
    uint32_t nodes{1};
    uint32_t gpusPerNode{0}; //!< 0: all of a node
    std::string op;
    std::string sizes{"8B:16GiB:x2"};
    std::string algorithm{"auto"};
    std::string protocol{"auto"};
    uint32_t channels{0}; //!< 0: NCCL's choice
    std::string nccl{CollectiveSweepSpec().ncclVersion};
    std::string fidelity{ToString(CollectiveSweepSpec().fidelity)};
    std::string csv;
};

/** The names of the values of an enumeration up to @p last. */
template <typename Enum>
std::vector<std::string>
NamesUpTo(Enum last)
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); i++)
    {
        names.emplace_back(ToString(static_cast<Enum>(i)));
    }
    return names;
}

/** @p parsed, or an error that names the option and what it may be. */
template <typename Enum>
Enum
Expect(const std::optional<Enum>& parsed,
       const char* option,
       const std::string& text,
       const std::vector<std::string>& names)
{
    if (!parsed)
    {
        throw InputError(std::string(option) + ": found '" + text +
                         "', expected one of: " + JoinNames(names) + DidYouMean(text, names));
    }
    return *parsed;
}

/** As Expect, where "auto" leaves the choice to NCCL's model. */
template <typename Enum>
std::optional<Enum>
ExpectOrAuto(const std::optional<Enum>& parsed,
             const char* option,
             const std::string& text,
             std::vector<std::string> names)
{
    if (text == "auto")
    {
        return std::nullopt;
    }
    names.emplace_back("auto");
    return Expect(parsed, option, text, names);
}

std::vector<Bytes>
ReadSizes(const std::string& text)
{
    try
    {
        return ParseSizeList(text);
    }
    catch (const InputError& error)
    {
        throw InputError(std::string("--sizes: ") + error.what());
    }
}

/** The system with the nodes and GPUs that take part. */
void
ReadMachine(const CollectiveOptions& options, CollectiveSweepSpec& spec)
{
    const Catalog catalog;
    spec.cluster = ReadSystem(YamlNode::Parse(options.system, "--system"), catalog).cluster;
    spec.cluster.nodes = options.nodes;
    spec.gpusPerNode = options.gpusPerNode == 0 ? spec.cluster.node.gpus : options.gpusPerNode;
    if (spec.gpusPerNode > spec.cluster.node.gpus)
    {
        throw InputError("--gpus-per-node: found " + std::to_string(spec.gpusPerNode) +
                         ", expected at most " + std::to_string(spec.cluster.node.gpus) +
                         ", as a node of " + spec.cluster.name + " has");
    }
}

CollectiveSweepSpec
ReadSweep(const CollectiveOptions& options)
{
    CollectiveSweepSpec spec;
    ReadMachine(options, spec);
    spec.op = Expect(
        ParseCollectiveOp(options.op), "--op", options.op, NamesUpTo(CollectiveOp::SendRecv));
    spec.overrides.algorithm = ExpectOrAuto(ParseAlgorithm(options.algorithm),
                                            "--algorithm",
                                            options.algorithm,
                                            NamesUpTo(Algorithm::PointToPoint));
    spec.overrides.protocol = ExpectOrAuto(ParseProtocol(options.protocol),
                                           "--protocol",
                                           options.protocol,
                                           NamesUpTo(Protocol::Simple));
    if (options.channels > 0)
    {
        spec.overrides.channels = options.channels;
    }
    spec.sizes = ReadSizes(options.sizes);
    spec.fidelity = Expect(
        ParseFidelity(options.fidelity), "--fidelity", options.fidelity, NamesUpTo(Fidelity::Flow));
    spec.ncclVersion = options.nccl;
    return spec;
}

ExitCode
RunCollective(const CollectiveOptions& options)
{
    const CollectiveSweepSpec spec = ReadSweep(options);
    std::optional<OutputFile> csv;
    if (!options.csv.empty())
    {
        csv.emplace(options.csv, "--csv");
    }
    const auto points = RunCollectiveSweep(spec);
    std::cout << ToNcclTestsTable(spec, points);
    if (csv)
    {
        std::ofstream out(csv->TemporaryPath());
        out << ToCsv(spec, points);
        out.close();
        if (!out)
        {
            throw std::runtime_error("cannot write '" + options.csv + "'");
        }
        csv->Commit();
    }
    return ExitCode::Done;
}

} // namespace

Command
AddCollectiveCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("collective",
                                            "Time one collective over message sizes, as "
                                            "nccl-tests does");
    auto options = std::make_shared<CollectiveOptions>();
    verb->add_option("--system", options->system, "System of the catalogue, or its file")
        ->required();
    verb->add_option("--nodes", options->nodes, "Nodes that take part")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    verb->add_option("--gpus-per-node", options->gpusPerNode, "GPUs of each node (default: all)")
        ->check(CLI::Range(1, 1024));
    verb->add_option(
            "--op", options->op, "all-reduce, all-gather, reduce-scatter, broadcast or send-recv")
        ->required();
    verb->add_option("--sizes",
                     options->sizes,
                     "first:last:xFACTOR, or a list: 1MiB,64MiB; bare numbers are bytes")
        ->capture_default_str();
    verb->add_option("--algorithm", options->algorithm, "ring, or auto as NCCL chooses")
        ->capture_default_str();
    verb->add_option("--protocol", options->protocol, "ll, ll128, simple, or auto")
        ->capture_default_str();
    verb->add_option("--channels", options->channels, "Channels (default: as NCCL chooses)")
        ->check(CLI::Range(1, 64));
    verb->add_option("--nccl", options->nccl, "NCCL version whose constants hold")
        ->capture_default_str();
    verb->add_option("--fidelity", options->fidelity, "analytical, stream or flow")
        ->capture_default_str();
    verb->add_option("--csv",
                     options->csv,
                     "Write collective,size_bytes,time_us,algbw_GBps,busbw_GBps to this file");
    verb->footer(
        "Examples:\n"
        "  weir collective --system hgx-h100 --nodes 4 --op all-reduce\n"
        "  weir collective --system dgx-a100 --op all-gather --sizes 1MiB:4GiB:x4 "
        "--fidelity flow --csv out.csv");
    return {verb, [options] { return RunCollective(*options); }};
}

} // namespace weir
