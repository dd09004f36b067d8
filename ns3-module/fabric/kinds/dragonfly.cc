// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly.h"

#include "fabric/kinds/clos-layers.h"
#include "fabric/topology/profile-check.h"

#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** More than two local links, so that local, global, local is shorter than two global ones. */
constexpr uint8_t GLOBAL_COST = 3;

std::string
Text(uint64_t number)
{
    return std::to_string(number);
}

LinkProfile
GlobalProfile(const ClusterSpec& spec)
{
    const LinkProfile& global = spec.fabric.dragonfly.globalLink;
    return global.rawRate == Rate() ? TrunkProfile(spec) : global;
}

/** Nodes whose NICs one group holds; with packed NICs a node may lie in two groups: 0. */
uint32_t
NodesPerGroup(const ClusterSpec& spec)
{
    const DragonflyShape& shape = spec.fabric.dragonfly;
    const uint32_t block = spec.node.nics;
    if (shape.routersPerGroup % block != 0)
    {
        throw std::invalid_argument(
            "fabric.routersPerGroup: " + Text(shape.routersPerGroup) +
            ", expected a multiple of the " + Text(block) +
            " NICs of a node (node.nics), which fabric.nicPlacement 'rails' gives a router each");
    }
    return shape.routersPerGroup / block * shape.nicsPerRouter;
}

/** How many groups there are. */
uint32_t
GroupCount(const ClusterSpec& spec, std::size_t nicCount)
{
    const DragonflyShape& shape = spec.fabric.dragonfly;
    const uint64_t groupNics = uint64_t{shape.routersPerGroup} * shape.nicsPerRouter;
    const uint64_t fewest = shape.placement == NicPlacement::Rails
                                ? (spec.nodes + NodesPerGroup(spec) - 1) / NodesPerGroup(spec)
                                : (nicCount + groupNics - 1) / groupNics;
    if (shape.groups > 0 && shape.groups < fewest)
    {
        throw std::invalid_argument("fabric.groups: " + Text(shape.groups) +
                                    " of routersPerGroup x nicsPerRouter = " + Text(groupNics) +
                                    " NICs, expected at least " + Text(fewest) +
                                    " for nodes x node.nics = " + Text(nicCount));
    }
    return shape.groups > 0 ? shape.groups : static_cast<uint32_t>(fewest);
}

/** Global links between every two of @p groups groups whose routers have @p ports in all. */
uint32_t
GlobalLanes(uint32_t groups, uint64_t ports, const char* has)
{
    const uint64_t lanes = groups > 1 ? ports / (groups - 1) : 0;
    if (groups > 1 && lanes == 0)
    {
        throw std::invalid_argument("fabric.globalLinks: " + Text(ports) +
                                    " global links of a group (" + has + "), expected at least " +
                                    Text(groups - 1) + ", one to each other group");
    }
    return static_cast<uint32_t>(lanes);
}

void
CheckShape(const ClusterSpec& spec, uint32_t usedPorts)
{
    CheckFabricLinks(spec);
    CheckProfile(GlobalProfile(spec), "fabric.globalLink");
    const DragonflyShape& shape = spec.fabric.dragonfly;
    for (const auto& [name, value] : {std::pair{"routersPerGroup", shape.routersPerGroup},
                                      std::pair{"spinesPerGroup", shape.spinesPerGroup},
                                      std::pair{"nicsPerRouter", shape.nicsPerRouter},
                                      std::pair{"localLinks", shape.localLinks}})
    {
        if (value == 0)
        {
            throw std::invalid_argument("fabric." + std::string(name) + ": 0, expected at least 1");
        }
    }
    if (spec.fabric.leafRadix > 0 && usedPorts > spec.fabric.leafRadix)
    {
        throw std::invalid_argument(
            "fabric.leafRadix: " + Text(spec.fabric.leafRadix) +
            " ports, expected at least the NICs, local and global links of a "
            "router, which are " +
            Text(usedPorts));
    }
}

/** Which router of all, counted group by group, takes a NIC. */
uint32_t
RouterOf(const ClusterSpec& spec, std::size_t nic)
{
    const DragonflyShape& shape = spec.fabric.dragonfly;
    const uint32_t block = spec.node.nics;
    if (shape.placement == NicPlacement::Packed)
    {
        return static_cast<uint32_t>(nic / shape.nicsPerRouter);
    }
    const auto node = static_cast<uint32_t>(nic / block);
    return node / shape.nicsPerRouter * block + static_cast<uint32_t>(nic % block);
}

/** The routers of one group that NICs or global links hang on. */
std::vector<DeviceId>
AddGroup(Topology& topology, DeviceKind kind, const char* name, uint32_t group, uint32_t count)
{
    const std::string prefix = "group" + Text(group) + "-" + name;
    std::vector<DeviceId> routers;
    for (uint32_t i = 0; i < count; i++)
    {
        routers.push_back(
            topology.AddDevice(kind, prefix + Text(i), Device::NO_NODE, group * count + i));
        topology.SetGroup(routers.back(), group);
    }
    return routers;
}

void
AttachNics(Topology& topology,
           const ClusterSpec& spec,
           const std::vector<DeviceId>& nics,
           const std::vector<DeviceId>& routers)
{
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(
            nics[nic], routers[RouterOf(spec, nic)], LinkKind::Network, spec.node.nic);
    }
}

/** Joins every two groups; @p routers have the global ports, @p perGroup of them in each group. */
void
JoinGroups(Topology& topology,
           const ClusterSpec& spec,
           const std::vector<DeviceId>& routers,
           uint32_t perGroup,
           uint32_t lanes)
{
    const LinkProfile profile = GlobalProfile(spec);
    const uint32_t ports = spec.fabric.dragonfly.globalLinks;
    const auto groups = static_cast<uint32_t>(routers.size()) / perGroup;
    const auto routerAt = [&](uint32_t group, uint32_t port) {
        return routers[group * perGroup + port / ports];
    };
    for (uint32_t i = 0; i < groups; i++)
    {
        for (uint32_t j = i + 1; j < groups; j++)
        {
            for (uint32_t lane = 0; lane < lanes; lane++)
            {
                const uint32_t there = lane * (groups - 1) + (j - i) - 1;
                const uint32_t back = lane * (groups - 1) + (groups + i - j) - 1;
                const LinkId wire = topology.AddDuplexLink(
                    routerAt(i, there), routerAt(j, back), LinkKind::Network, profile);
                topology.SetCost(wire, GLOBAL_COST);
            }
        }
    }
}

} // namespace

void
WireDragonfly(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    const DragonflyShape& shape = spec.fabric.dragonfly;
    const uint32_t a = shape.routersPerGroup;
    CheckShape(spec, shape.nicsPerRouter + (a - 1) * shape.localLinks + shape.globalLinks);
    const uint32_t groups = GroupCount(spec, nics.size());
    const uint32_t lanes =
        GlobalLanes(groups, uint64_t{a} * shape.globalLinks, "routersPerGroup x globalLinks");
    const LinkProfile local = TrunkProfile(spec);
    std::vector<DeviceId> routers;
    for (uint32_t group = 0; group < groups; group++)
    {
        const auto own = AddGroup(topology, DeviceKind::LeafSwitch, "router", group, a);
        for (uint32_t i = 0; i < a; i++)
        {
            JoinLayers(
                topology, {own[i]}, {own.begin() + i + 1, own.end()}, shape.localLinks, local);
        }
        routers.insert(routers.end(), own.begin(), own.end());
    }
    AttachNics(topology, spec, nics, routers);
    JoinGroups(topology, spec, routers, a, lanes);
}

void
WireDragonflyPlus(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics)
{
    const DragonflyShape& shape = spec.fabric.dragonfly;
    CheckShape(spec,
               std::max(shape.nicsPerRouter + shape.spinesPerGroup * shape.localLinks,
                        shape.routersPerGroup * shape.localLinks + shape.globalLinks));
    const uint32_t groups = GroupCount(spec, nics.size());
    const uint32_t lanes = GlobalLanes(
        groups, uint64_t{shape.spinesPerGroup} * shape.globalLinks, "spinesPerGroup x globalLinks");
    const LinkProfile local = TrunkProfile(spec);
    std::vector<DeviceId> leaves;
    std::vector<DeviceId> spines;
    for (uint32_t group = 0; group < groups; group++)
    {
        const auto low =
            AddGroup(topology, DeviceKind::LeafSwitch, "leaf", group, shape.routersPerGroup);
        const auto high =
            AddGroup(topology, DeviceKind::SpineSwitch, "spine", group, shape.spinesPerGroup);
        JoinLayers(topology, low, high, shape.localLinks, local);
        leaves.insert(leaves.end(), low.begin(), low.end());
        spines.insert(spines.end(), high.begin(), high.end());
    }
    AttachNics(topology, spec, nics, leaves);
    JoinGroups(topology, spec, spines, shape.spinesPerGroup, lanes);
}

} // namespace weir
