// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/machine-parts.h"

#include "scenarios/readers/read-node-costs.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace weir
{
namespace
{

constexpr double HERTZ_PER_GHZ = 1e9;
constexpr double MIN_PORT_EFFICIENCY = 0.01;

/** The `value` of a {value, source} map. */
YamlNode
Sourced(const YamlNode& node, const char* key)
{
    const YamlNode entry = node.Get(key);
    entry.CheckKeys(YamlKeysOf("sourced"));
    ReadSource(entry);
    return entry.Get("value");
}

YamlNode
ResolvePart(const YamlNode& reference, CatalogKind kind, const Catalog& catalog, const char* keys)
{
    const YamlNode node = ResolveBase(reference, kind, catalog);
    node.CheckKeys(YamlKeysOf(keys));
    return node;
}

std::vector<CostFigure>
CostsIn(const YamlNode& node)
{
    const auto costs = node.Find("costs");
    return costs ? ReadCostFigures(*costs) : std::vector<CostFigure>();
}

} // namespace

ArchitectureFigures
ReadArchitecture(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node =
        ResolvePart(reference, CatalogKind::Architectures, catalog, "architecture");
    ArchitectureFigures read;
    read.computeCapability = node.Get("computeCapability").AsCount(60, 200);
    read.clockGhz = Sourced(node, "clock").AsHertz() / HERTZ_PER_GHZ;
    read.l1 = Sourced(node, "l1").AsBytes();
    const YamlNode nvlink = node.Get("nvlink");
    nvlink.CheckKeys(YamlKeysOf("architecture.nvlink"));
    read.nvlinkRate = nvlink.Get("rate").AsRate();
    read.nvlinkHeaderFlits = nvlink.Get("headerFlits").AsCount(1, 16);
    read.nvlinkNcclRate = nvlink.Get("ncclRate").AsRate();
    read.nvlink = {nvlink.Get("measured").AsNumber(MIN_PORT_EFFICIENCY, 1), ReadSource(nvlink)};
    read.costs = CostsIn(node);
    return read;
}

HostFigures
ReadHost(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolvePart(reference, CatalogKind::Hosts, catalog, "host");
    return {node.Get("vendor").AsEnum(HostCpuNames()), CostsIn(node)};
}

TransportFigures
ReadTransport(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolvePart(reference, CatalogKind::Transports, catalog, "transport");
    TransportFigures read;
    read.kind = node.Get("kind").AsEnum(TransportNames());
    read.port = {Sourced(node, "measured").AsNumber(MIN_PORT_EFFICIENCY, 1),
                 ReadSource(node.Get("measured"))};
    read.costs = CostsIn(node);
    return read;
}

ArchitectureFigures
ArchitectureOf(uint32_t computeCapability, const Catalog& catalog)
{
    std::optional<ArchitectureFigures> best;
    for (const std::string& name : catalog.Names(CatalogKind::Architectures))
    {
        const ArchitectureFigures one =
            ReadArchitecture(YamlNode::ParseArgument(name, "architecture"), catalog);
        const bool isOld = one.computeCapability <= computeCapability;
        const bool isBetter = !best || (isOld ? best->computeCapability > computeCapability ||
                                                    best->computeCapability < one.computeCapability
                                              : best->computeCapability > one.computeCapability);
        if (isBetter)
        {
            best = one;
        }
    }
    if (!best)
    {
        throw InputError("found no architecture in the catalogue, expected at least one");
    }
    return *best;
}

std::vector<NodeCost>
OwnCosts(const ArchitectureFigures& architecture,
         const HostFigures& host,
         const TransportFigures& transport,
         const NodeSpec& node)
{
    constexpr double ROUNDING = 1e-9; // of numbers that are read in other units
    const auto defaults = DefaultCosts(node);
    std::vector<NodeCost> own;
    for (const auto& figures : {architecture.costs, host.costs, transport.costs})
    {
        for (const NodeCost& cost : CostsAt(figures, architecture.clockGhz, node.nic.rawRate))
        {
            const double known = defaults[static_cast<std::size_t>(NodeCostKindOf(cost.name))].value;
            if (!(std::abs(cost.value - known) <= ROUNDING * known))
            {
                own.push_back(cost);
            }
        }
    }
    return own;
}

std::vector<NodeCost>
OwnCosts(const NodeSpec& node, const Catalog& catalog)
{
    const auto named = [](const char* name) { return YamlNode::ParseArgument(name, "node"); };
    return OwnCosts(ArchitectureOf(node.computeCapability, catalog),
                    ReadHost(named(NameOf(HostCpuNames(), node.cpu)), catalog),
                    ReadTransport(named(NameOf(TransportNames(), node.transport)), catalog),
                    node);
}

} // namespace weir
