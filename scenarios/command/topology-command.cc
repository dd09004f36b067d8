// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"

#include "scenarios/catalog.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/results/output-file.h"
#include "scenarios/topology/convert-topology.h"
#include "scenarios/topology/show-topology.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/text-file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace weir
{

namespace
{

struct TopologyOptions
{
    std::string file;
    std::string base;
    std::string out;
    uint32_t nodes{0}; //!< 0: that of the file
};

/** The files that describe a system; none where the name is not that of a system. */
std::vector<std::string>
FilesOf(const std::string& system)
{
    if (system.empty() || IsTopologyFile(system))
    {
        return {system};
    }
    return BaseFiles(YamlNode::ParseArgument(system, "SYSTEM"), CatalogKind::Systems, Catalog());
}

/** Writes @p text to the output file or to standard output; never over an input. */
void
Write(const TopologyOptions& options, const std::string& text, const OutputFormat& format)
{
    if (options.out.empty())
    {
        std::cout << text;
        return;
    }
    for (const std::string& system : {options.file, options.base})
    {
        for (const std::string& file : FilesOf(system))
        {
            ExpectOtherFile("--output", options.out, "input", file);
        }
    }
    const auto file = OpenOutput(options.out, "--output", format);
    file->Save(text);
}

/**
 * Calls @p use with the cluster of the options. Where the number of nodes is not given, it is at
 * most @p max, limited so that their ports fit a page. Errors of wiring name the location in the
 * file.
 */
template <typename Use>
ExitCode
With(const TopologyOptions& options, uint32_t max, const Use& use)
{
    ClusterSpec cluster = ReadTopology(options.file, options.base, Catalog());
    if (options.nodes > 0)
    {
        cluster.nodes = options.nodes;
    }
    else if (cluster.fabric.kind->JoinsNodes() && !cluster.fabric.kind->NodesThatFill(cluster.node))
    {
        constexpr uint32_t PORTS = 64;
        const uint32_t room = PORTS / std::max(1U, cluster.node.nics);
        cluster.nodes = std::max(cluster.nodes, std::clamp(room, 1U, max));
    }
    CheckMemory(cluster);
    try
    {
        CheckFabricMemory(cluster);
        use(cluster);
    }
    catch (const std::invalid_argument& error)
    {
        if (!IsTopologyFile(options.file))
        {
            CheckWiring(YamlNode::ParseArgument(options.file, "SYSTEM"), Catalog(), cluster);
        }
        throw InputError(options.file + ": " + error.what());
    }
    return ExitCode::Done;
}

/** Prints what the written file does not preserve of @p cluster, by reading it back. */
void
ReportLosses(const ClusterSpec& cluster, const std::string& path)
{
    try
    {
        const std::string lost = LostKeys(cluster, ReadTopology(path, "", Catalog()));
        if (!lost.empty())
        {
            std::cerr << "weir: " << path << " omits or approximates: " << lost << "\n";
        }
    }
    catch (const InputError& error)
    {
        std::cerr << "weir: " << path << " can be read only with --base: " << error.what() << "\n";
    }
}

ExitCode
Convert(const TopologyOptions& options)
{
    return With(options, 1, [&](const ClusterSpec& cluster) {
        Write(options, WriteTopology(cluster, FormatOf(options.out)), TEXT_FORMAT);
        ReportLosses(cluster, options.out);
    });
}

} // namespace

Command
AddTopologyCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand(
        "topology", "Show, convert or draw the devices and links of a node and its fabric");
    // Before its sub-verbs, which inherit it.
    verb->footer(
        "Examples:\n"
        "  weir topology show dgx1-v100\n"
        "  weir topology convert topo.xml --base hgx-h100 -o my-node.yaml\n"
        "  weir topology draw hgx-h100 --nodes 4 -o hgx.svg");
    verb->require_subcommand(1);
    auto options = std::make_shared<TopologyOptions>();
    const auto addFile = [&](CLI::App* action) {
        action
            ->add_option("SYSTEM",
                         options->file,
                         "System of the catalog, or its YAML, NCCL topology XML or GraphML file")
            ->required();
        action->add_option(
            "--base", options->base, "System that provides what XML or GraphML omits");
        action
            ->add_option(
                "--nodes", options->nodes, "Number of nodes (default: the file's, or a few)")
            ->check(CLI::Range(1, 1 << 16));
    };
    auto* show = verb->add_subcommand("show", "Print a node's PCIe tree, its paths and the fabric");
    addFile(show);
    auto* convert = verb->add_subcommand("convert", "Convert to YAML, NCCL XML or GraphML");
    addFile(convert);
    convert
        ->add_option("-o,--output",
                     options->out,
                     "Output file; its extension .yaml, .xml or .graphml selects the format")
        ->required();
    auto* draw = verb->add_subcommand("draw", "Draw as SVG, with line widths by rate");
    addFile(draw);
    draw->add_option("-o,--output", options->out, "SVG file (default: standard output)");
    return {verb, [options, show, convert] {
                if (show->parsed())
                {
                    return With(*options, 2, [](const ClusterSpec& cluster) {
                        std::cout << DescribeTopology(cluster);
                    });
                }
                if (convert->parsed())
                {
                    return Convert(*options);
                }
                return With(*options, 4, [&](const ClusterSpec& cluster) {
                    Write(*options, DrawTopology(cluster), SVG_FORMAT);
                });
            }};
}

} // namespace weir
