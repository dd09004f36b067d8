// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/open-network.h"

#include "fabric/kinds/graph-fabric.h"
#include "scenarios/flows/cluster-network.h"
#include "scenarios/flows/hpcc-network.h"
#include "scenarios/flows/hpcc-topology.h"
#include "scenarios/flows/htsim-topology.h"
#include "scenarios/readers/check-wiring.h"
#include "scenarios/readers/read-fabric.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/yaml/input-error.h"

#include <filesystem>
#include <stdexcept>

namespace weir
{

bool
IsSystem(const std::string& topology)
{
    const auto extension = std::filesystem::path(topology).extension();
    std::error_code ignored;
    return extension == ".yaml" || extension == ".yml" ||
           (topology.find('/') == std::string::npos && !std::filesystem::exists(topology, ignored));
}

namespace
{

void
SetRouting(FabricSpec& fabric, const NetworkOverrides& overrides, const FabricKindRegistry& kinds)
{
    fabric.hashSeed = overrides.hashSeed.value_or(fabric.hashSeed);
    if (!overrides.routing.empty())
    {
        ReadRouting(YamlNode::ParseArgument(overrides.routing, "--routing"), fabric, kinds);
    }
}

std::unique_ptr<FlowNetwork>
OpenSystem(const std::string& system, const NetworkOverrides& overrides, const Catalog& catalog)
{
    const YamlNode reference = YamlNode::ParseArgument(system, "--topology");
    ClusterSpec spec = ReadSystem(reference, catalog).cluster;
    spec.nodes = overrides.nodes.value_or(spec.nodes);
    CheckWiring(reference, catalog, spec);
    SetRouting(spec.fabric, overrides, catalog.GetFabricKinds());
    try
    {
        return std::make_unique<ClusterNetwork>(spec, overrides.packets, overrides.sharing);
    }
    catch (const std::invalid_argument& error)
    {
        throw InputError("--topology: " + system + ": " + error.what());
    }
}

} // namespace

std::unique_ptr<FlowNetwork>
OpenNetwork(const std::string& topology, const NetworkOverrides& overrides, const Catalog& catalog)
{
    if (IsSystem(topology))
    {
        return OpenSystem(topology, overrides, catalog);
    }
    const bool isHtsim = std::filesystem::path(topology).extension() == ".topo";
    Topology read = isHtsim ? ReadHtsimTopology(topology) : ReadHpccTopology(topology);
    if (overrides.nodes)
    {
        throw InputError("--nodes: found " + std::to_string(*overrides.nodes) + " with '" +
                         topology + "', expected a system: a topology file has its own nodes");
    }
    FabricSpec fabric;
    fabric.kind = GraphFabric();
    SetRouting(fabric, overrides, catalog.GetFabricKinds());
    return std::make_unique<HpccNetwork>(
        std::move(read), fabric, overrides.packets, overrides.sharing);
}

} // namespace weir
