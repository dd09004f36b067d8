// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/describe/describe-packets.h"
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
#include "scenarios/writers/write-scenario.h"
#include "scenarios/yaml/text-file.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

namespace weir
{

namespace
{

/** Describes a model for the terminal: its shape, parameters and FLOPs per token. */
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

void
ShowModel(const YamlNode& name, const Catalog& catalog)
{
    std::cout << (IsLayerTable(name, catalog) ? DescribeTable(ReadLayerTable(name, catalog))
                                              : DescribeModel(ReadModel(name, catalog)));
}

/** Shows the default network parameters with a congestion control. */
ExitCode
ShowNetwork(const std::string& name)
{
    const CongestionControlRegistry controls = CongestionControls();
    const Polymorphic<CongestionControl>* control = controls.Find(name);
    if (control == nullptr)
    {
        YamlNode::ParseArgument(name, "NAME").FailChoice(controls.Names());
    }
    PacketSpec spec;
    spec.congestionControl = *control;
    std::cout << DescribePackets(spec);
    return ExitCode::Done;
}

/** Refuses an invalid description of @p kind. */
void
CheckPart(CatalogKind kind, const YamlNode& name, const Catalog& catalog)
{
    switch (kind)
    {
    case CatalogKind::Architectures:
        ReadArchitecture(name, catalog);
        break;
    case CatalogKind::Hosts:
        ReadHost(name, catalog);
        break;
    case CatalogKind::Transports:
        ReadTransport(name, catalog);
        break;
    default:
        ReadFramework(name, catalog);
        break;
    }
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

ExitCode
Show(const ShowOptions& options)
{
    if (options.kind == "network")
    {
        return ShowNetwork(options.name);
    }
    const CatalogKind kind = ParseKind(options.kind);
    const Catalog catalog;
    const auto printFile = [&](const char* what) {
        std::cout << ReadTextFile(catalog.Find(kind, options.name), what);
    };
    switch (kind)
    {
    case CatalogKind::Systems: {
        const YamlNode name = YamlNode::ParseArgument(options.name, "NAME");
        const SystemDescription system = ReadSystem(name, catalog);
        CheckWiring(name, catalog, WithJoinedNodes(system.cluster));
        std::cout << DescribeSystem(system);
        break;
    }
    case CatalogKind::Models:
        ShowModel(YamlNode::ParseArgument(options.name, "NAME"), catalog);
        break;
    case CatalogKind::Runs:
        std::cout << DumpScenario(LoadScenario(options.name, {}, catalog));
        break;
    case CatalogKind::Gpus:
        LoadGpu(catalog.Find(kind, options.name), catalog); // validates
        printFile("a GPU's description");
        break;
    case CatalogKind::Architectures:
    case CatalogKind::Hosts:
    case CatalogKind::Transports:
    case CatalogKind::Frameworks: {
        const YamlNode name = YamlNode::ParseArgument(options.name, "NAME");
        CheckPart(kind, name, catalog);
        std::cout << ResolveBase(name, kind, catalog).Dump() << "\n";
        break;
    }
    case CatalogKind::Calibrations:
        CheckCalibration(catalog.Find(kind, options.name), catalog);
        printFile("a calibration");
        break;
    case CatalogKind::FlowSizes:
        LoadFlowSizes(options.name, catalog); // validates
        printFile("a distribution of flow sizes");
        break;
    case CatalogKind::Corrections:
        ReadCorrections(YamlNode::ParseArgument(options.name, "NAME"), catalog); // validates
        printFile("a file of corrections");
        break;
    case CatalogKind::Switches:
        ReadSwitch(YamlNode::ParseArgument(options.name, "NAME"), catalog); // validates
        printFile("a model of a switch");
        break;
    case CatalogKind::Sweeps:
        LoadSweep(catalog.Find(kind, options.name)); // validates
        printFile("a sweep");
        break;
    case CatalogKind::Suites:
        LoadSuite(options.name, catalog); // validates
        printFile("a suite's description");
        break;
    }
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
