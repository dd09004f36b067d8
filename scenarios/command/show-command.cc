// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/kind-option.h"
#include "scenarios/describe/describe-model.h"
#include "scenarios/describe/describe-packets.h"
#include "scenarios/describe/describe-system.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/readers/read-corrections.h"
#include "scenarios/readers/read-gpu.h"
#include "scenarios/readers/read-layer-table.h"
#include "scenarios/readers/read-model.h"
#include "scenarios/readers/read-plan.h"
#include "scenarios/readers/read-scenario.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/readers/read-traffic.h"
#include "scenarios/validation/read-suite.h"
#include "scenarios/writers/write-scenario.h"
#include "scenarios/yaml/text-file.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

namespace weir
{

namespace
{

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

/** What packets do under a congestion control, by default. */
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

/** Refuses what is none of @p kind. */
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

ExitCode
Show(const ShowOptions& options)
{
    if (options.kind == "network")
    {
        return ShowNetwork(options.name);
    }
    const CatalogKind kind = ParseKind(options.kind);
    const Catalog catalog;
    switch (kind)
    {
    case CatalogKind::Systems:
        std::cout << DescribeSystem(
            ReadSystem(YamlNode::ParseArgument(options.name, "NAME"), catalog));
        break;
    case CatalogKind::Models:
        ShowModel(YamlNode::ParseArgument(options.name, "NAME"), catalog);
        break;
    case CatalogKind::Runs:
        std::cout << DumpScenario(LoadScenario(options.name, {}, catalog));
        break;
    case CatalogKind::Gpus: {
        const std::string path = catalog.Find(kind, options.name);
        LoadGpu(path, catalog); // refuses what is none
        std::cout << ReadTextFile(path, "a GPU's description");
        break;
    }
    case CatalogKind::Architectures:
    case CatalogKind::Hosts:
    case CatalogKind::Transports:
    case CatalogKind::Frameworks: {
        const YamlNode name = YamlNode::ParseArgument(options.name, "NAME");
        CheckPart(kind, name, catalog);
        std::cout << ResolveBase(name, kind, catalog).Dump() << "\n";
        break;
    }
    case CatalogKind::Calibrations: {
        const std::string path = catalog.Find(kind, options.name);
        std::cout << ReadTextFile(path, "a calibration");
        break;
    }
    case CatalogKind::FlowSizes: {
        LoadFlowSizes(options.name, catalog); // similarly
        const std::string path = catalog.Find(kind, options.name);
        std::cout << ReadTextFile(path, "a distribution of flow sizes");
        break;
    }
    case CatalogKind::Corrections: {
        ReadCorrections(YamlNode::ParseArgument(options.name, "NAME"), catalog); // similarly
        const std::string path = catalog.Find(kind, options.name);
        std::cout << ReadTextFile(path, "a file of corrections");
        break;
    }
    case CatalogKind::Suites: {
        LoadSuite(options.name, catalog); // similarly
        const std::string path = catalog.Find(kind, options.name);
        std::cout << ReadTextFile(path, "a suite's description");
        break;
    }
    }
    return ExitCode::Done;
}

} // namespace

Command
AddShowCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("show", "Show one thing of the catalogue");
    auto options = std::make_shared<ShowOptions>();
    verb->add_option("KIND",
                     options->kind,
                     "system, model, run, gpu, architecture, host, transport, framework, "
                     "calibration, flow-size, correction, suite or network")
        ->required();
    verb->add_option("NAME",
                     options->name,
                     "As weir list prints it, or a file; of a network its congestion "
                     "control")
        ->required();
    verb->footer(
        "Examples:\n"
        "  weir show system hgx-h100     GPUs, links with payload rates, NCCL's channels\n"
        "  weir show model gpt-175b      shape and parameters\n"
        "  weir show run gpt-175b-96-h800    the scenario after defaults\n"
        "  weir show framework torchtitan    what plans are under it, each value with its source\n"
        "  weir show network dcqcn       packets, queue pairs and switches: a file for --network");
    return {verb, [options] { return Show(*options); }};
}

} // namespace weir
