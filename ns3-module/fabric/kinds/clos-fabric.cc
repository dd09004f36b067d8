// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/refuse.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace weir
{

void
ClosFabric::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count(
        Required("leafRadix", "Number of ports of a leaf switch; in a fat tree, of every switch."),
        leafRadix,
        {2, MAX_PORTS});
    visitor.Number(
        {"oversubscription",
         "Ratio of the capacity of a leaf's NIC ports to that of its uplinks; 1: non-blocking."},
        oversubscription,
        {1, MAX_PORTS});
    visitor.OptionalCount({"leafDown",
                           "Number of NIC ports of a leaf; its other ports need not all be used. "
                           "Absent: as many as fit."},
                          leafDown,
                          {1, MAX_PORTS});
    visitor.OptionalCount({"leafUp",
                           "Number of uplinks of a leaf, regardless of oversubscription; absent: "
                           "derived from oversubscription."},
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
    // A rounding error in an integer quotient must not add a link.
    constexpr double ROUNDING = 1e-9;
    return static_cast<uint32_t>(std::max(1.0, std::ceil(uplinks * (1 - ROUNDING))));
}

double
ClosFabric::LeafRatio(const ClusterSpec& spec, uint32_t down) const
{
    const Rate up = TrunkProfile(spec).PayloadRate() * UplinksFor(spec, down);
    return spec.node.nic.PayloadRate() * down / up;
}

uint32_t
ClosFabric::DownPorts(const ClusterSpec& spec, uint32_t step) const
{
    if (leafDown)
    {
        const uint32_t own = *leafDown - *leafDown % step;
        WEIR_REFUSE_IF(!HasPorts(spec, own),
                       "fabric.leafDown: " << own << " NIC ports and " << UplinksFor(spec, own)
                                           << " uplinks, expected at most " << leafRadix
                                           << " ports in total (fabric.leafRadix)");
        return own;
    }
    constexpr double CLOSE = 0.01; // relative to the ratio; a closer ratio does not justify a port
    uint32_t maximum = 0;
    double nearest = 0; // no ratio exceeds the requested one
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

uint32_t
ClosFabric::JoinBySpines(Topology& topology,
                         const ClusterSpec& spec,
                         const std::vector<DeviceId>& leaves,
                         uint32_t down,
                         uint32_t first) const
{
    if (leaves.size() == 1)
    {
        return 0;
    }
    const auto leafCount = static_cast<uint32_t>(leaves.size());
    const uint32_t uplinks = UplinksFor(spec, down);
    const uint32_t ports = std::max(leafRadix, leafCount);
    const uint32_t count = UpperSwitches(uplinks, leafCount, ports);
    const auto spines = AddSwitches(topology, DeviceKind::SpineSwitch, "spine", first, count);
    JoinLayers(topology, leaves, spines, uplinks / count, TrunkProfile(spec));
    return count;
}

void
ClosFabric::CheckLeaf(const ClusterSpec& spec) const
{
    CheckFabricLinks(spec);
    WEIR_REFUSE_IF(DownPorts(spec, 1) == 0,
                   "fabric.leafRadix: "
                       << leafRadix
                       << " ports, expected room for one NIC and its share of uplinks ("
                       << UplinksFor(spec, 1) << ")");
}

namespace
{

/** The leaf with the most NICs. */
struct FullestLeaf
{
    uint32_t down{0}; //!< NICs
    uint32_t up{0};   //!< uplinks; 0: no leaf has any
    double ratio{0};  //!< rate of its NICs over that of its uplinks
};

FullestLeaf
FindFullestLeaf(const Topology& topology)
{
    FullestLeaf fullest;
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
        if (up > 0 && down > fullest.down)
        {
            fullest = {down, up, downRate / upRate};
        }
    }
    return fullest;
}

} // namespace

/**
 * The ports and the actual oversubscription of the leaf with the most NICs, with the requested
 * ratio.
 */
std::string
ClosFabric::Figures(const Topology& topology) const
{
    const FullestLeaf leaf = FindFullestLeaf(topology);
    if (leaf.up == 0)
    {
        return "";
    }
    char text[120];
    const int length = std::snprintf(text,
                                     sizeof text,
                                     "a leaf: %u NICs, %u uplinks, oversubscription %.3g",
                                     leaf.down,
                                     leaf.up,
                                     leaf.ratio);
    if (!leafUp)
    {
        std::snprintf(text + length, sizeof text - length, " (requested: %g)", oversubscription);
    }
    return text;
}

std::string
ClosFabric::Unmet(const Topology& topology) const
{
    constexpr double CLOSE = 0.01; // relative to the ratio
    if (leafUp || oversubscription == 1)
    {
        return "";
    }
    const FullestLeaf leaf = FindFullestLeaf(topology);
    if (leaf.up == 0)
    {
        return "fabric.oversubscription: which has no effect here: it needs more than one leaf";
    }
    if (leaf.ratio >= oversubscription * (1 - CLOSE))
    {
        return "";
    }
    char text[160];
    std::snprintf(
        text,
        sizeof text,
        "fabric.oversubscription: which is %.3g here: the fullest leaf has %u NICs and %u "
        "%s",
        leaf.ratio,
        leaf.down,
        leaf.up,
        leaf.up == 1 ? "uplink" : "uplinks");
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

void
LeafSpine::Wire(Topology& topology,
                const ClusterSpec& spec,
                const std::vector<DeviceId>& nics) const
{
    CheckLeaf(spec);
    const uint32_t down = DownPorts(spec, spec.node.nics);
    WEIR_REFUSE_IF(down == 0,
                   "fabric.leafRadix: "
                       << leafRadix << " ports, which leave room for " << DownPorts(spec, 1)
                       << " NICs in addition to the uplinks, expected room for the "
                       << spec.node.nics << " of a node (node.nics)");
    const uint32_t leafNodes = std::min(spec.nodes, down / spec.node.nics);
    const uint32_t leafNics = leafNodes * spec.node.nics;
    const uint32_t count = (spec.nodes + leafNodes - 1) / leafNodes;
    const auto leaves = AddSwitches(topology, DeviceKind::LeafSwitch, "leaf", 0, count);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(nics[nic], leaves[nic / leafNics], LinkKind::Network, spec.node.nic);
    }
    JoinBySpines(topology, spec, leaves, leafNics);
}

RailOptimized::Rails
RailOptimized::WireRails(Topology& topology,
                         const ClusterSpec& spec,
                         const std::vector<DeviceId>& nics) const
{
    CheckLeaf(spec);
    const uint32_t rails = spec.node.nics;
    const uint32_t groupNodes = std::min(spec.nodes, DownPorts(spec, 1));
    const uint32_t groups = (spec.nodes + groupNodes - 1) / groupNodes;
    const auto leaves = AddSwitches(topology, DeviceKind::LeafSwitch, "leaf", 0, groups * rails);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        const std::size_t group = nic / rails / groupNodes;
        const DeviceId leaf = leaves[group * rails + nic % rails];
        topology.AddDuplexLink(nics[nic], leaf, LinkKind::Network, spec.node.nic);
    }
    return {leaves, groupNodes};
}

void
RailOptimized::Wire(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& nics) const
{
    const Rails rails = WireRails(topology, spec, nics);
    JoinBySpines(topology, spec, rails.leaves, rails.groupNodes);
}

void
RailOnly::Wire(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics) const
{
    const Rails rails = WireRails(topology, spec, nics);
    uint32_t spines = 0;
    for (uint32_t rail = 0; rail < spec.node.nics; rail++)
    {
        std::vector<DeviceId> leaves;
        for (std::size_t leaf = rail; leaf < rails.leaves.size(); leaf += spec.node.nics)
        {
            leaves.push_back(rails.leaves[leaf]);
        }
        spines += JoinBySpines(topology, spec, leaves, rails.groupNodes, spines);
    }
}

namespace
{

constexpr uint32_t MAX_LEVELS = 8;

const char*
NameOfLevel(uint32_t level)
{
    constexpr const char* NAMES[MAX_LEVELS] = {
        "leaf", "spine", "core", "top4-", "top5-", "top6-", "top7-", "top8-"};
    return NAMES[level - 1];
}

} // namespace

void
FatTree::VisitParameters(ParameterVisitor& visitor)
{
    ClosFabric::VisitParameters(visitor);
    visitor.Count(
        {"levels", "Maximum number of switch levels; 2: leaves and spines, 3: also a core."},
        levels,
        {2, MAX_LEVELS});
}

FatTree::Leaves
FatTree::LeavesFor(const ClusterSpec& spec, std::size_t nicCount) const
{
    const uint64_t maxDown = DownPorts(spec, 1);
    uint64_t maxNics = maxDown;
    for (uint32_t level = 2; level <= levels && maxNics < nicCount; level++)
    {
        maxNics *= BlocksJoined(level);
    }
    WEIR_REFUSE_IF(nicCount > maxNics,
                   "fabric.leafRadix: " << leafRadix << " ports, which in " << levels
                                        << " levels (fabric.levels) connect at most " << maxNics
                                        << " NICs, expected enough for nodes x node.nics = "
                                        << nicCount);
    Leaves leaves;
    leaves.down = static_cast<uint32_t>(std::min<uint64_t>(nicCount, maxDown));
    leaves.uplinks = UplinksFor(spec, leaves.down);
    leaves.count = static_cast<uint32_t>((nicCount + leaves.down - 1) / leaves.down);
    return leaves;
}

FatTree::Blocks
FatTree::JoinBlocks(Topology& topology,
                    const Blocks& lower,
                    uint32_t level,
                    const LinkProfile& trunk) const
{
    const uint32_t joined = std::min(lower.count, BlocksJoined(level));
    Blocks upper;
    upper.count = (lower.count + joined - 1) / joined;
    const uint32_t ports = upper.count == 1 ? leafRadix : leafRadix / 2;
    const uint32_t perGroup = UpperSwitches(lower.uplinks, joined, ports);
    upper.perBlock = lower.perBlock * perGroup;
    upper.uplinks = joined * (lower.uplinks / perGroup);
    const auto kind = level == 2 ? DeviceKind::SpineSwitch : DeviceKind::CoreSwitch;
    for (uint32_t block = 0; block < upper.count; block++)
    {
        const uint32_t first = block * joined;
        const uint32_t last = std::min(first + joined, lower.count);
        for (uint32_t group = 0; group < lower.perBlock; group++)
        {
            std::vector<DeviceId> below;
            for (uint32_t each = first; each < last; each++)
            {
                below.push_back(lower.tops[each * lower.perBlock + group]);
            }
            const auto above = AddSwitches(topology,
                                           kind,
                                           NameOfLevel(level),
                                           block * upper.perBlock + group * perGroup,
                                           perGroup);
            JoinLayers(topology, below, above, lower.uplinks / perGroup, trunk);
            upper.tops.insert(upper.tops.end(), above.begin(), above.end());
        }
    }
    return upper;
}

void
FatTree::Wire(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics) const
{
    CheckLeaf(spec);
    const Leaves leaves = LeavesFor(spec, nics.size());
    Blocks blocks;
    blocks.tops = AddSwitches(topology, DeviceKind::LeafSwitch, NameOfLevel(1), 0, leaves.count);
    blocks.count = leaves.count;
    blocks.perBlock = 1;
    blocks.uplinks = leaves.uplinks;
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(
            nics[nic], blocks.tops[nic / leaves.down], LinkKind::Network, spec.node.nic);
    }
    for (uint32_t level = 2; blocks.count > 1; level++)
    {
        blocks = JoinBlocks(topology, blocks, level, TrunkProfile(spec));
    }
}

} // namespace weir
