// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-layers.h"

#include "fabric/topology/profile-check.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

LinkProfile
TrunkProfile(const ClusterSpec& spec)
{
    LinkProfile trunk = spec.fabric.link;
    if (trunk.rawRate == Rate())
    {
        const LinkProfile& nic = spec.node.nic;
        trunk.name = trunk.name.empty() ? nic.name : trunk.name;
        trunk.rawRate = nic.rawRate;
        trunk.encoding = nic.encoding;
        trunk.framing = nic.framing;
        trunk.measured = nic.measured;
        trunk.latency = trunk.latency == Time() ? nic.latency : trunk.latency;
    }
    return trunk;
}

uint32_t
UplinksFor(const ClusterSpec& spec, uint32_t down)
{
    const double downRate = spec.node.nic.PayloadRate().ToBytesPerSecond() * down;
    const double upRate = TrunkProfile(spec).PayloadRate().ToBytesPerSecond();
    const double uplinks = downRate / (upRate * spec.fabric.oversubscription);
    // A quotient that is whole but for rounding must not cost another link.
    constexpr double ROUNDING = 1e-9;
    return static_cast<uint32_t>(std::max(1.0, std::ceil(uplinks * (1 - ROUNDING))));
}

namespace
{

/** Down over up capacity of a leaf with @p down NICs. */
double
LeafRatio(const ClusterSpec& spec, uint32_t down)
{
    const Rate up = TrunkProfile(spec).PayloadRate() * UplinksFor(spec, down);
    return spec.node.nic.PayloadRate() * down / up;
}

/** Whether a leaf has the ports for @p down NICs and their uplinks. */
bool
HasPorts(const ClusterSpec& spec, uint32_t down)
{
    return down + UplinksFor(spec, down) <= spec.fabric.leafRadix;
}

} // namespace

uint32_t
DownPorts(const ClusterSpec& spec, uint32_t together)
{
    constexpr double CLOSE = 0.01; // of the ratio; nearer is not worth a port
    uint32_t most = 0;
    double nearest = 0; // no ratio is above the one asked for
    while (HasPorts(spec, most + together))
    {
        most += together;
        nearest = std::max(nearest, LeafRatio(spec, most));
    }
    const bool isAny = spec.fabric.oversubscription == 1;
    uint32_t down = most;
    while (!isAny && down > 0 && LeafRatio(spec, down) < nearest * (1 - CLOSE))
    {
        down -= together;
    }
    return down;
}

uint32_t
UpperSwitches(uint32_t uplinks, uint32_t lower, uint32_t ports)
{
    for (uint32_t count = 1; count <= uplinks; count++)
    {
        if (uplinks % count == 0 && uint64_t{lower} * (uplinks / count) <= ports)
        {
            return count;
        }
    }
    return 0;
}

std::vector<DeviceId>
AddSwitches(
    Topology& topology, DeviceKind kind, const std::string& prefix, uint32_t first, uint32_t count)
{
    std::vector<DeviceId> switches;
    switches.reserve(count);
    for (uint32_t i = first; i < first + count; i++)
    {
        switches.push_back(
            topology.AddDevice(kind, prefix + std::to_string(i), Device::NO_NODE, i));
    }
    return switches;
}

void
JoinLayers(Topology& topology,
           const std::vector<DeviceId>& lower,
           const std::vector<DeviceId>& upper,
           uint32_t lanes,
           const LinkProfile& profile)
{
    for (const DeviceId low : lower)
    {
        for (const DeviceId up : upper)
        {
            for (uint32_t lane = 0; lane < lanes; lane++)
            {
                topology.AddDuplexLink(low, up, LinkKind::Network, profile);
            }
        }
    }
}

void
JoinBySpines(Topology& topology,
             const ClusterSpec& spec,
             const std::vector<DeviceId>& leaves,
             uint32_t down)
{
    if (leaves.size() == 1)
    {
        return;
    }
    const auto leafCount = static_cast<uint32_t>(leaves.size());
    const uint32_t uplinks = UplinksFor(spec, down);
    const uint32_t ports = std::max(spec.fabric.leafRadix, leafCount);
    const uint32_t count = UpperSwitches(uplinks, leafCount, ports);
    const auto spines = AddSwitches(topology, DeviceKind::SpineSwitch, "spine", 0, count);
    JoinLayers(topology, leaves, spines, uplinks / count, TrunkProfile(spec));
}

void
CheckFabricLinks(const ClusterSpec& spec)
{
    if (spec.node.nics == 0)
    {
        throw std::invalid_argument(
            "node.nics: 0, expected at least 1, by which fabric.kind joins nodes");
    }
    CheckProfile(spec.node.nic, "node.nic");
    CheckProfile(TrunkProfile(spec), "fabric.link");
}

void
CheckFabricSpec(const ClusterSpec& spec)
{
    const FabricSpec& fabric = spec.fabric;
    CheckFabricLinks(spec);
    if (!(fabric.oversubscription >= 1) || std::isinf(fabric.oversubscription))
    {
        throw std::invalid_argument(
            "fabric.oversubscription: " + std::to_string(fabric.oversubscription) +
            ", expected at least 1");
    }
    if (DownPorts(spec, 1) == 0)
    {
        throw std::invalid_argument("fabric.leafRadix: " + std::to_string(fabric.leafRadix) +
                                    " ports, expected room for one NIC and its share of uplinks (" +
                                    std::to_string(UplinksFor(spec, 1)) + ")");
    }
}

} // namespace weir
