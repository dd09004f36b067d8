// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fat-tree.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

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

const char*
FatTree::Name() const
{
    return "fat-tree";
}

const char*
FatTree::Description() const
{
    return "Levels of switches of one radix, as many as are needed.";
}

void
FatTree::VisitParameters(ParameterVisitor& visitor)
{
    ClosFabric::VisitParameters(visitor);
    visitor.Count({"levels", "Levels of switches at most: 2 are leaves and spines, 3 have a core."},
                  levels,
                  {2, MAX_LEVELS});
}

uint32_t
FatTree::BlocksJoined(uint32_t level) const
{
    return level == levels ? leafRadix : leafRadix / 2;
}

FatTree::Leaves
FatTree::LeavesFor(const ClusterSpec& spec, std::size_t nicCount) const
{
    const uint64_t maxDown = DownPorts(spec, 1);
    uint64_t places = maxDown;
    for (uint32_t level = 2; level <= levels && places < nicCount; level++)
    {
        places *= BlocksJoined(level);
    }
    if (nicCount > places)
    {
        throw std::invalid_argument(
            "fabric.leafRadix: " + std::to_string(leafRadix) + " ports, which in " +
            std::to_string(levels) + " levels (fabric.levels) join at most " +
            std::to_string(places) +
            " NICs, expected enough for nodes x node.nics = " + std::to_string(nicCount));
    }
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
