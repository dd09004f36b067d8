// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace weir
{

void
ClosFabric::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count(Required("leafRadix", "Ports of a leaf switch; in a fat tree of every switch."),
                  leafRadix,
                  {2, MAX_PORTS});
    visitor.Number(
        {"oversubscription", "Capacity of a leaf's ports to NICs over that of its uplinks."},
        oversubscription,
        {1, MAX_PORTS});
    visitor.OptionalCount({"leafDown",
                           "Ports of a leaf to NICs, of which the others need not all be used; "
                           "absent: as many as fit."},
                          leafDown,
                          {1, MAX_PORTS});
    visitor.OptionalCount(
        {"leafUp", "Uplinks of a leaf, whatever the oversubscription; absent: as that asks for."},
        leafUp,
        {1, MAX_PORTS});
}

uint32_t
ClosFabric::UplinksFor(const ClusterSpec& spec, uint32_t down) const
{
    if (leafUp)
    {
        return *leafUp;
    }
    const double downRate = spec.node.nic.PayloadRate().ToBytesPerSecond() * down;
    const double upRate = TrunkProfile(spec).PayloadRate().ToBytesPerSecond();
    const double uplinks = downRate / (upRate * oversubscription);
    // A quotient that is whole but for rounding must not cost another link.
    constexpr double ROUNDING = 1e-9;
    return static_cast<uint32_t>(std::max(1.0, std::ceil(uplinks * (1 - ROUNDING))));
}

double
ClosFabric::LeafRatio(const ClusterSpec& spec, uint32_t down) const
{
    const Rate up = TrunkProfile(spec).PayloadRate() * UplinksFor(spec, down);
    return spec.node.nic.PayloadRate() * down / up;
}

bool
ClosFabric::HasPorts(const ClusterSpec& spec, uint32_t down) const
{
    return down + UplinksFor(spec, down) <= leafRadix;
}

uint32_t
ClosFabric::DownPorts(const ClusterSpec& spec, uint32_t step) const
{
    if (leafDown)
    {
        const uint32_t own = *leafDown - *leafDown % step;
        if (!HasPorts(spec, own))
        {
            throw std::invalid_argument(
                "fabric.leafDown: " + std::to_string(own) + " ports to NICs beside " +
                std::to_string(UplinksFor(spec, own)) + " uplinks, expected at most " +
                std::to_string(leafRadix) + " together (fabric.leafRadix)");
        }
        return own;
    }
    constexpr double CLOSE = 0.01; // of the ratio; nearer is not worth a port
    uint32_t maximum = 0;
    double nearest = 0; // no ratio is above the one asked for
    while (HasPorts(spec, maximum + step))
    {
        maximum += step;
        nearest = std::max(nearest, LeafRatio(spec, maximum));
    }
    const bool isAny = oversubscription == 1 || leafUp;
    uint32_t down = maximum;
    while (!isAny && down > 0 && LeafRatio(spec, down) < nearest * (1 - CLOSE))
    {
        down -= step;
    }
    return down;
}

void
ClosFabric::JoinBySpines(Topology& topology,
                         const ClusterSpec& spec,
                         const std::vector<DeviceId>& leaves,
                         uint32_t down) const
{
    if (leaves.size() == 1)
    {
        return;
    }
    const auto leafCount = static_cast<uint32_t>(leaves.size());
    const uint32_t uplinks = UplinksFor(spec, down);
    const uint32_t ports = std::max(leafRadix, leafCount);
    const uint32_t count = UpperSwitches(uplinks, leafCount, ports);
    const auto spines = AddSwitches(topology, DeviceKind::SpineSwitch, "spine", 0, count);
    JoinLayers(topology, leaves, spines, uplinks / count, TrunkProfile(spec));
}

void
ClosFabric::CheckLeaf(const ClusterSpec& spec) const
{
    CheckFabricLinks(spec);
    if (DownPorts(spec, 1) == 0)
    {
        throw std::invalid_argument("fabric.leafRadix: " + std::to_string(leafRadix) +
                                    " ports, expected room for one NIC and its share of uplinks (" +
                                    std::to_string(UplinksFor(spec, 1)) + ")");
    }
}

/** What the fullest leaf has: the ratio built, beside the one asked for. */
std::string
ClosFabric::Figures(const Topology& topology) const
{
    uint32_t maxDown = 0;
    uint32_t uplinks = 0;
    double ratio = 0;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        if (topology.GetDevice(DeviceId(i)).kind != DeviceKind::LeafSwitch)
        {
            continue;
        }
        uint32_t down = 0;
        uint32_t up = 0;
        Rate downRate;
        Rate upRate;
        for (const LinkId id : topology.LinksFrom(DeviceId(i)))
        {
            const Link& link = topology.GetLink(id);
            const bool isDown = topology.GetDevice(link.to).kind == DeviceKind::Nic;
            (isDown ? down : up)++;
            Rate& rate = isDown ? downRate : upRate;
            rate = rate + link.rate;
        }
        if (up > 0 && down > maxDown)
        {
            maxDown = down;
            uplinks = up;
            ratio = downRate / upRate;
        }
    }
    if (uplinks == 0)
    {
        return "";
    }
    char text[120];
    const int length = std::snprintf(text,
                                     sizeof text,
                                     "a leaf: %u NICs, %u uplinks, oversubscription %.3g",
                                     maxDown,
                                     uplinks,
                                     ratio);
    if (!leafUp)
    {
        std::snprintf(text + length, sizeof text - length, " (asked for: %.3g)", oversubscription);
    }
    return text;
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

} // namespace weir
