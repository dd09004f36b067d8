// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/fat-tree.h"

#include "fabric/clos-layers.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** The shape of a fat tree: NICs per leaf, and how many switches stand where. */
struct FatTreeShape
{
    uint32_t down;      //!< NICs of a full leaf
    uint32_t uplinks;   //!< of each leaf
    uint32_t leaves;    //!< in all
    uint32_t podLeaves; //!< in a full pod
    uint32_t pods;
};

FatTreeShape
ShapeOf(const ClusterSpec& spec, std::size_t nicCount)
{
    const FabricSpec& fabric = spec.fabric;
    if (fabric.levels != 2 && fabric.levels != 3)
    {
        throw std::invalid_argument("fabric.levels: " + std::to_string(fabric.levels) +
                                    ", expected 2 or 3");
    }
    const uint64_t maxDown = MaxDownPorts(spec);
    const uint64_t maxPodLeaves = fabric.levels == 2 ? fabric.leafRadix : fabric.leafRadix / 2;
    const uint64_t maxPods = fabric.levels == 2 ? 1 : fabric.leafRadix;
    const uint64_t most = maxDown * maxPodLeaves * maxPods;
    if (nicCount > most)
    {
        throw std::invalid_argument(
            "fabric.leafRadix: switches of " + std::to_string(fabric.leafRadix) + " ports in " +
            std::to_string(fabric.levels) + " levels (fabric.levels) join at most " +
            std::to_string(most) + " NICs, but nodes x node.nics is " + std::to_string(nicCount));
    }
    FatTreeShape shape;
    shape.down = static_cast<uint32_t>(std::min<uint64_t>(nicCount, maxDown));
    shape.uplinks = UplinksFor(spec, shape.down);
    shape.leaves = static_cast<uint32_t>((nicCount + shape.down - 1) / shape.down);
    shape.podLeaves = static_cast<uint32_t>(std::min<uint64_t>(shape.leaves, maxPodLeaves));
    shape.pods = (shape.leaves + shape.podLeaves - 1) / shape.podLeaves;
    return shape;
}

/** The spines of every pod, pod by pod; each pod has @p perPod. */
std::vector<DeviceId>
WirePods(Topology& topology,
         const FatTreeShape& shape,
         uint32_t perPod,
         const std::vector<DeviceId>& leaves,
         const LinkProfile& trunk)
{
    std::vector<DeviceId> spines;
    for (uint32_t pod = 0; pod < shape.pods; pod++)
    {
        const uint32_t first = pod * shape.podLeaves;
        const uint32_t last = std::min(first + shape.podLeaves, shape.leaves);
        const auto podSpines =
            AddSwitches(topology, DeviceKind::SpineSwitch, "spine", pod * perPod, perPod);
        JoinLayers(topology,
                   {leaves.begin() + first, leaves.begin() + last},
                   podSpines,
                   shape.uplinks / perPod,
                   trunk);
        spines.insert(spines.end(), podSpines.begin(), podSpines.end());
    }
    return spines;
}

/** Joins spine j of every pod to core group j; a spine has as many links up as a full pod's down.
 */
void
WireCores(Topology& topology,
          const FatTreeShape& shape,
          uint32_t perPod,
          uint32_t ports,
          const std::vector<DeviceId>& spines,
          const LinkProfile& trunk)
{
    const uint32_t spineUplinks = shape.podLeaves * (shape.uplinks / perPod);
    const uint32_t perGroup = UpperSwitches(spineUplinks, shape.pods, ports);
    for (uint32_t group = 0; group < perPod; group++)
    {
        std::vector<DeviceId> lower;
        for (uint32_t pod = 0; pod < shape.pods; pod++)
        {
            lower.push_back(spines[pod * perPod + group]);
        }
        const auto cores =
            AddSwitches(topology, DeviceKind::CoreSwitch, "core", group * perGroup, perGroup);
        JoinLayers(topology, lower, cores, spineUplinks / perGroup, trunk);
    }
}

} // namespace

void
WireFatTree(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    CheckFabricSpec(spec);
    const FatTreeShape shape = ShapeOf(spec, nics.size());
    const auto leaves = AddSwitches(topology, DeviceKind::LeafSwitch, "leaf", 0, shape.leaves);
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(
            nics[nic], leaves[nic / shape.down], LinkKind::Network, spec.node.nic);
    }
    if (shape.leaves == 1)
    {
        return;
    }
    const LinkProfile trunk = TrunkProfile(spec);
    const uint32_t radix = spec.fabric.leafRadix;
    const uint32_t spineDown = shape.pods == 1 ? radix : radix / 2;
    const uint32_t perPod = UpperSwitches(shape.uplinks, shape.podLeaves, spineDown);
    const auto spines = WirePods(topology, shape, perPod, leaves, trunk);
    if (shape.pods > 1)
    {
        WireCores(topology, shape, perPod, radix, spines, trunk);
    }
}

} // namespace weir
