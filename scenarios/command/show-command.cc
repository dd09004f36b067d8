// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/describe/describe-system.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-packets.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/results/model-flops.h"
#include "scenarios/results/text-table.h"
#include "scenarios/sweep/sweep.h"
#include "scenarios/validation/read-suite.h"
#include "scenarios/writers/parameter-writer.h"
#include "scenarios/writers/write-scenario.h"
#include "scenarios/yaml/text-file.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

std::string
DescribeModel(const Transformer& model)
{
    const bool gated = model.activation == ActivationKind::SwiGlu;
    const double tokenFlops = ModelFlops(model, 1).ToDouble() / model.sequence;
    const auto count = [](double value) { return FormatFixed(value, 0); };
    TextTable table(2);
    table.Row({"layers", count(model.layers)});
    table.Row({"hidden", count(model.hidden)});
    table.Row({"heads", count(model.heads) + " of " + count(model.headDim)});
    table.Row({"key/value heads", count(model.kvHeads)});
    table.Row({"ffn", count(model.ffn) + (gated ? ", SwiGLU" : ", GELU")});
    if (model.HasExperts())
    {
        const ExpertLayers& moe = model.moe;
        table.Row({"experts",
                   count(moe.experts) + " of ffn " + count(moe.ffn) + ", " + count(moe.topK) +
                       " per token" +
                       (moe.sharedFfn > 0 ? ", and shared ones of " + count(moe.sharedFfn) : "") +
                       ", in " + count(model.ExpertLayersOf(0, model.layers)) + " layers"});
    }
    table.Row({"norm", model.norm == NormKind::RmsNorm ? "RMSNorm" : "LayerNorm"});
    table.Row({"sequence", count(model.sequence)});
    table.Row(
        {"vocabulary",
         count(model.vocabulary) + (model.tiedEmbeddings ? ", tied with the output layer" : "")});
    if (model.predictionHead)
    {
        table.Row({"prediction head", "dense, GELU, norm before the output layer"});
    }
    table.Row({"positions", model.learnedPositions ? "learned" : "rotary"});
    table.Row(
        {"parameters",
         FormatFixed(model.Parameters() * 1e-9, 3) + " billion, " +
             FormatFixed((model.IsExpertLayer(model.layers - 1) ? model.ExpertLayerParameters()
                                                                : model.LayerParameters()) *
                             1e-6,
                         1) +
             " million per layer"});
    table.Row({"training",
               FormatFixed(tokenFlops * 1e-9, 1) +
                   " GFLOP per token (forward and backward, no recomputation)"});
    table.Row({"source", model.source});
    return model.name + "\n" + table.Print(2);
}

/** "64 x 56 x 56" */
std::string
InText(const SampleShape& shape)
{
    return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.width);
}

/** One line per table, and their sum; empty where there are none. */
std::string
DescribeEmbeddings(const LayerTable& table)
{
    if (table.embeddings.empty())
    {
        return "";
    }
    TextTable lines(2);
    lines.Row({"embedding table", "rows", "width", "rows per sample", "Zipf exponent"});
    for (std::size_t i = 0; i < table.embeddings.size(); i++)
    {
        const EmbeddingTable& one = table.embeddings[i];
        lines.Row({std::to_string(i + 1),
                   std::to_string(one.rows),
                   std::to_string(one.dim),
                   std::to_string(one.pooling),
                   one.classes.empty() ? FormatFixed(one.zipf, 2) : "given classes"});
    }
    return lines.Print(2) + "  all " + std::to_string(table.embeddings.size()) +
           " embedding tables: " + FormatFixed(table.EmbeddingParameters() * 1e-9, 3) +
           " billion parameters\n";
}

/**
 * Describes a table of layers for the terminal: one line per layer with weights, and their sums.
 */
std::string
DescribeTable(const LayerTable& table)
{
    TextTable lines(2);
    lines.Row({"layer", "in", "out", "window", "parameters", "MFLOP per sample"});
    for (const TableLayer& layer : table.layers)
    {
        if (layer.Parameters() == 0)
        {
            continue;
        }
        const bool isWindow = layer.op == TableOp::Convolution;
        lines.Row({layer.name,
                   InText(layer.in),
                   InText(layer.out),
                   isWindow ? std::to_string(layer.window.size) + " / " +
                                  std::to_string(layer.window.stride)
                            : "",
                   FormatFixed(layer.Parameters(), 0),
                   FormatFixed(2 * layer.MultiplyAdds() * 1e-6, 1)});
    }
    lines.Row({"all " + std::to_string(table.layers.size()) + " layers",
               "",
               "",
               "",
               FormatFixed(table.Parameters(), 0),
               FormatFixed(2 * table.MultiplyAdds() * 1e-6, 1)});
    return table.name + "\n" + lines.Print(2) + DescribeEmbeddings(table) +
           "  source: " + table.source + "\n";
}

struct ShowOptions
{
    std::string kind;
    std::string name;
};

/** Describes the default network parameters with the congestion control @p name. */
std::string
DescribeNetwork(const std::string& name)
{
    const CongestionControlRegistry controls = CongestionControls();
    const Polymorphic<CongestionControl>* control = controls.Find(name);
    if (control == nullptr)
    {
        YamlNode::ParseArgument(name, "NAME").FailChoice(controls.Names());
    }
    PacketSpec spec;
    spec.congestionControl = *control;
    return DescribePackets(spec);
}

/** Refuses a file that is a calibration neither of shortcuts nor of measured times. */
void
CheckCalibration(const std::string& path, const Catalog& catalog)
{
    if (YamlNode::Load(path).Find("classes"))
    {
        MeasuredBounds(catalog, path);
        return;
    }
    ReadCalibration(path, catalog);
}

/** Describes an entry of the catalog, after validating it. */
std::string
DescribeEntry(CatalogKind kind, const std::string& entry)
{
    const Catalog catalog;
    const auto name = [&] { return YamlNode::ParseArgument(entry, "NAME"); };
    const auto path = [&] { return catalog.Find(kind, entry); };
    const auto resolved = [&] { return ResolveBase(name(), kind, catalog).Dump() + "\n"; };
    const auto file = [&](const char* what) { return ReadTextFile(path(), what); };
    switch (kind)
    {
    case CatalogKind::Systems: {
        const SystemDescription system = ReadSystem(name(), catalog);
        CheckWiring(name(), catalog, WithJoinedNodes(system.cluster));
        return DescribeSystem(system);
    }
    case CatalogKind::Models:
        return IsLayerTable(name(), catalog) ? DescribeTable(ReadLayerTable(name(), catalog))
                                             : DescribeModel(ReadModel(name(), catalog));
    case CatalogKind::Runs:
        return DumpScenario(LoadScenario(entry, {}, catalog));
    case CatalogKind::Gpus:
        LoadGpu(path(), catalog);
        return file("a GPU's description");
    case CatalogKind::Architectures:
        ReadArchitecture(name(), catalog);
        return resolved();
    case CatalogKind::Hosts:
        ReadHost(name(), catalog);
        return resolved();
    case CatalogKind::Transports:
        ReadTransport(name(), catalog);
        return resolved();
    case CatalogKind::Frameworks:
        ReadFramework(name(), catalog);
        return resolved();
    case CatalogKind::Calibrations:
        CheckCalibration(path(), catalog);
        return file("a calibration");
    case CatalogKind::FlowSizes:
        LoadFlowSizes(entry, catalog);
        return file("a distribution of flow sizes");
    case CatalogKind::Corrections:
        ReadCorrections(name(), catalog);
        return file("a file of corrections");
    case CatalogKind::Switches:
        ReadSwitch(name(), catalog);
        return file("a model of a switch");
    case CatalogKind::Sweeps:
        LoadSweep(path());
        return file("a sweep");
    case CatalogKind::Suites:
        LoadSuite(entry, catalog);
        return file("a suite's description");
    }
    throw std::logic_error("DescribeEntry: no such kind of entry");
}

ExitCode
Show(const ShowOptions& options)
{
    std::cout << (options.kind == "network" ? DescribeNetwork(options.name)
                                            : DescribeEntry(ParseKind(options.kind), options.name));
    return ExitCode::Done;
}

} // namespace

Command
AddShowCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("show", "Show one entry of the catalog");
    auto options = std::make_shared<ShowOptions>();
    std::string kinds;
    for (const auto& [plural, kind] : CatalogKinds())
    {
        kinds += SingularName(kind) + (kind == CatalogKind::Suites ? " or network" : ", ");
    }
    verb->add_option("KIND", options->kind, kinds)->required();
    verb->add_option("NAME",
                     options->name,
                     "Name as weir list prints it, or a file; for network a congestion control")
        ->required();
    verb->footer(
        "Examples:\n"
        "  weir show system hgx-h100     GPUs, links with payload rates, NCCL's channels\n"
        "  weir show model gpt-175b      shape and parameters\n"
        "  weir show run gpt-175b-96-h800    the scenario with defaults filled in\n"
        "  weir show framework torchtitan    its defaults of parallel plans, each with its source\n"
        "  weir show network dcqcn       packets, queue pairs and switches: a file for --network");
    return {verb, [options] { return Show(*options); }};
}

} // namespace weir
