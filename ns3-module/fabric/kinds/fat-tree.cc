// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/fat-tree.h"

#include "fabric/kinds/clos-layers.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

constexpr uint32_t MOST_LEVELS = 8;

/** The shape of a fat tree: NICs per leaf, and how many switches stand where. */
struct FatTreeShape
{
    uint32_t down;    //!< NICs of a full leaf
    uint32_t uplinks; //!< of each leaf
    uint32_t leaves;  //!< in all
};

/** How many blocks of one level the next one joins. */
uint32_t
BlocksJoined(const FabricSpec& fabric, uint32_t level)
{
    return level == fabric.levels ? fabric.leafRadix : fabric.leafRadix / 2;
}

FatTreeShape
ShapeOf(const ClusterSpec& spec, std::size_t nicCount)
{
    const FabricSpec& fabric = spec.fabric;
    if (fabric.levels < 2 || fabric.levels > MOST_LEVELS)
    {
        throw std::invalid_argument("fabric.levels: " + std::to_string(fabric.levels) +
                                    ", expected 2 to " + std::to_string(MOST_LEVELS));
    }
    const uint64_t maxDown = DownPorts(spec, 1);
    uint64_t most = maxDown;
    for (uint32_t level = 2; level <= fabric.levels && most < nicCount; level++)
    {
        most *= BlocksJoined(fabric, level);
    }
    if (nicCount > most)
    {
        throw std::invalid_argument(
            "fabric.leafRadix: " + std::to_string(fabric.leafRadix) + " ports, which in " +
            std::to_string(fabric.levels) + " levels (fabric.levels) join at most " +
            std::to_string(most) +
            " NICs, expected enough for nodes x node.nics = " + std::to_string(nicCount));
    }
    FatTreeShape shape;
    shape.down = static_cast<uint32_t>(std::min<uint64_t>(nicCount, maxDown));
    shape.uplinks = UplinksFor(spec, shape.down);
    shape.leaves = static_cast<uint32_t>((nicCount + shape.down - 1) / shape.down);
    return shape;
}

/** Blocks of one level: the switches at their tops, block by block. */
struct Blocks
{
    std::vector<DeviceId> tops;
    uint32_t count;    //!< of blocks
    uint32_t perBlock; //!< tops of each
    uint32_t uplinks;  //!< that each top has
};

const char*
NameOfLevel(uint32_t level)
{
    constexpr const char* NAMES[] = {
        "leaf", "spine", "core", "top4-", "top5-", "top6-", "top7-", "top8-"};
    return NAMES[level - 1];
}

/** Joins blocks to larger ones: top j of all blocks of a larger one to its group j. */
Blocks
JoinBlocks(Topology& topology,
           const FabricSpec& fabric,
           const Blocks& lower,
           uint32_t level,
           const LinkProfile& trunk)
{
    const uint32_t joined = std::min(lower.count, BlocksJoined(fabric, level));
    Blocks upper;
    upper.count = (lower.count + joined - 1) / joined;
    const uint32_t ports = upper.count == 1 ? fabric.leafRadix : fabric.leafRadix / 2;
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

} // namespace

void
WireFatTree(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    CheckFabricSpec(spec);
    const FatTreeShape shape = ShapeOf(spec, nics.size());
    Blocks blocks;
    blocks.tops = AddSwitches(topology, DeviceKind::LeafSwitch, "leaf", 0, shape.leaves);
    blocks.count = shape.leaves;
    blocks.perBlock = 1;
    blocks.uplinks = shape.uplinks;
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(
            nics[nic], blocks.tops[nic / shape.down], LinkKind::Network, spec.node.nic);
    }
    for (uint32_t level = 2; blocks.count > 1; level++)
    {
        blocks = JoinBlocks(topology, spec.fabric, blocks, level, TrunkProfile(spec));
    }
}

} // namespace weir
