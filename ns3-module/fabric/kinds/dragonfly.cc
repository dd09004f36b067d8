// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/refuse.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/link-profile.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace weir
{

namespace
{

/** Higher than two local links, so that local, global, local is shorter than two global links. */
constexpr uint8_t GLOBAL_COST = 3;

} // namespace

void
DragonflyGroups::VisitGroups(ParameterVisitor& visitor)
{
    visitor.OptionalCount({"leafRadix",
                           "Number of ports of a router; a fabric that needs more is refused. "
                           "Absent: as many as needed.",
                           "",
                           Presence::OwnKind},
                          leafRadix,
                          {2, MAX_PORTS});
    visitor.OptionalCount({"groups", "Number of groups; absent: the fewest that hold all NICs."},
                          groups,
                          {1, MAX_PORTS});
    visitor.Count(
        Required("routersPerGroup", "Number of routers of a group to which NICs are attached."),
        routersPerGroup,
        {1, MAX_PORTS});
}

void
DragonflyGroups::VisitLinks(ParameterVisitor& visitor)
{
    visitor.Count(Required("nicsPerRouter", "Number of NICs attached to a router."),
                  nicsPerRouter,
                  {1, MAX_PORTS});
    visitor.Count(
        {"localLinks", "Number of parallel links between two connected routers of a group."},
        localLinks,
        {1, MAX_PORTS});
    visitor.Count(
        Required("globalLinks",
                 "Number of links of a router (dragonfly-plus: of a spine) to other groups."),
        globalLinks,
        {0, MAX_PORTS});
    visitor.Enum<NicPlacement>(
        {"nicPlacement",
         "Attachment of NICs to routers; packed: routers are filled one after the other; rails: "
         "each NIC of a node has a different router."},
        nicPlacement,
        {{"packed", NicPlacement::Packed}, {"rails", NicPlacement::Rails}});
    visitor.Link({"globalLink",
                  "Link between groups; absent or a rate of 0: the same as a link within a group."},
                 globalLink);
}

LinkProfile
DragonflyGroups::GlobalProfile(const ClusterSpec& spec) const
{
    return globalLink.rawRate == Rate() ? TrunkProfile(spec) : globalLink;
}

uint32_t
DragonflyGroups::NodesPerGroup(const ClusterSpec& spec) const
{
    const uint32_t block = spec.node.nics;
    WEIR_REFUSE_IF(routersPerGroup % block != 0,
                   "fabric.routersPerGroup: "
                       << routersPerGroup << ", expected a multiple of the " << block
                       << " NICs of a node (node.nics), which fabric.nicPlacement 'rails' attaches "
                          "to different routers");
    return routersPerGroup / block * nicsPerRouter;
}

uint32_t
DragonflyGroups::GroupCount(const ClusterSpec& spec) const
{
    const uint64_t nicCount = uint64_t{spec.nodes} * spec.node.nics;
    const uint64_t groupNics = uint64_t{routersPerGroup} * nicsPerRouter;
    const uint64_t fewest = nicPlacement == NicPlacement::Rails
                                ? (spec.nodes + NodesPerGroup(spec) - 1) / NodesPerGroup(spec)
                                : (nicCount + groupNics - 1) / groupNics;
    WEIR_REFUSE_IF(groups && *groups < fewest,
                   "fabric.groups: " << *groups << " groups of routersPerGroup x nicsPerRouter = "
                                     << groupNics << " NICs, expected at least " << fewest
                                     << " for nodes x node.nics = " << nicCount);
    return groups ? *groups : static_cast<uint32_t>(fewest);
}

uint32_t
DragonflyGroups::LinksPerGroupPair(uint32_t groupCount) const
{
    const GlobalRouters routers = GetGlobalRouters();
    const uint64_t ports = uint64_t{routers.count} * globalLinks;
    const uint64_t links = groupCount > 1 ? ports / (groupCount - 1) : 0;
    WEIR_REFUSE_IF(groupCount > 1 && links == 0,
                   "fabric.globalLinks: " << ports << " global links of a group (" << routers.key
                                          << " x globalLinks), expected at least " << groupCount - 1
                                          << ", one to each other group");
    return static_cast<uint32_t>(links);
}

FabricSize
DragonflyGroups::FixedSize(const ClusterSpec& spec) const
{
    const double nicCount = 1.0 * spec.nodes * spec.node.nics;
    const double count = groups ? *groups : std::ceil(nicCount / routersPerGroup / nicsPerRouter);
    const FabricSize group = GroupSize();
    const double ports = 1.0 * GetGlobalRouters().count * globalLinks;
    const double linksOfAPair = count > 1 ? std::floor(ports / (count - 1)) : 0;
    return {count * group.switches, count * group.wires + count * (count - 1) / 2 * linksOfAPair};
}

void
DragonflyGroups::CheckRouter(const ClusterSpec& spec, uint32_t ports) const
{
    CheckFabricLinks(spec);
    CheckProfile(GlobalProfile(spec), "fabric.globalLink");
    WEIR_REFUSE_IF(leafRadix && ports > *leafRadix,
                   "fabric.leafRadix: " << *leafRadix
                                        << " ports, expected at least the sum of a router's NICs, "
                                           "local links and global links, "
                                        << ports);
}

uint32_t
DragonflyGroups::RouterOf(const ClusterSpec& spec, std::size_t nic) const
{
    if (nicPlacement == NicPlacement::Packed)
    {
        return static_cast<uint32_t>(nic / nicsPerRouter);
    }
    const uint32_t block = spec.node.nics;
    const auto node = static_cast<uint32_t>(nic / block);
    return node / nicsPerRouter * block + static_cast<uint32_t>(nic % block);
}

std::vector<DeviceId>
DragonflyGroups::AddGroup(
    Topology& topology, DeviceKind kind, const char* name, uint32_t group, uint32_t count)
{
    const std::string prefix = "group" + std::to_string(group) + "-" + name;
    std::vector<DeviceId> routers;
    for (uint32_t i = 0; i < count; i++)
    {
        routers.push_back(topology.AddDevice(
            kind, prefix + std::to_string(i), Device::NO_NODE, group * count + i));
        topology.SetGroup(routers.back(), group);
    }
    return routers;
}

void
DragonflyGroups::AttachNics(Topology& topology,
                            const ClusterSpec& spec,
                            const std::vector<DeviceId>& nics,
                            const std::vector<DeviceId>& routers) const
{
    for (std::size_t nic = 0; nic < nics.size(); nic++)
    {
        topology.AddDuplexLink(
            nics[nic], routers[RouterOf(spec, nic)], LinkKind::Network, spec.node.nic);
    }
}

void
DragonflyGroups::JoinGroups(Topology& topology,
                            const ClusterSpec& spec,
                            const std::vector<DeviceId>& routers) const
{
    const LinkProfile profile = GlobalProfile(spec);
    const uint32_t perGroup = GetGlobalRouters().count;
    const auto count = static_cast<uint32_t>(routers.size()) / perGroup;
    const uint32_t links = LinksPerGroupPair(count);
    const auto routerAt = [&](uint32_t group, uint32_t port) {
        return routers[group * perGroup + port / globalLinks];
    };
    for (uint32_t i = 0; i < count; i++)
    {
        for (uint32_t j = i + 1; j < count; j++)
        {
            for (uint32_t link = 0; link < links; link++)
            {
                const uint32_t there = link * (count - 1) + (j - i) - 1;
                const uint32_t back = link * (count - 1) + (count + i - j) - 1;
                const LinkId wire = topology.AddDuplexLink(
                    routerAt(i, there), routerAt(j, back), LinkKind::Network, profile);
                topology.SetCost(wire, GLOBAL_COST);
            }
        }
    }
}

FabricSketch
DragonflyGroups::Sketch(const Topology& topology) const
{
    FabricSketch sketch;
    sketch.style = SketchStyle::Groups;
    const std::vector<DeviceId> switches = NetworkSwitches(topology);
    const bool hasSpines = std::any_of(switches.begin(), switches.end(), [&](DeviceId device) {
        return topology.GetDevice(device).kind == DeviceKind::SpineSwitch;
    });
    for (const DeviceId device : switches)
    {
        const Device& each = topology.GetDevice(device);
        SketchedSwitch at;
        at.device = device;
        at.label = each.name.substr(each.name.find('-') + 1);
        at.part = each.group;
        at.row = hasSpines && each.kind == DeviceKind::LeafSwitch ? 1 : 0;
        sketch.switches.push_back(std::move(at));
    }
    return sketch;
}

void
Dragonfly::VisitParameters(ParameterVisitor& visitor)
{
    VisitGroups(visitor);
    VisitLinks(visitor);
}

FabricSize
Dragonfly::GroupSize() const
{
    const double a = routersPerGroup;
    return {a, a * (a - 1) / 2 * localLinks};
}

Dragonfly::GlobalRouters
Dragonfly::GetGlobalRouters() const
{
    return {routersPerGroup, "routersPerGroup"};
}

void
Dragonfly::Wire(Topology& topology,
                const ClusterSpec& spec,
                const std::vector<DeviceId>& nics) const
{
    CheckRouter(spec, nicsPerRouter + (routersPerGroup - 1) * localLinks + globalLinks);
    const uint32_t count = GroupCount(spec);
    LinksPerGroupPair(count); // throws before anything is wired
    std::vector<DeviceId> routers;
    for (uint32_t group = 0; group < count; group++)
    {
        const auto own =
            AddGroup(topology, DeviceKind::LeafSwitch, "router", group, routersPerGroup);
        for (auto from = own.begin(); from != own.end(); ++from)
        {
            JoinLayers(topology, {*from}, {from + 1, own.end()}, localLinks, TrunkProfile(spec));
        }
        routers.insert(routers.end(), own.begin(), own.end());
    }
    AttachNics(topology, spec, nics, routers);
    JoinGroups(topology, spec, routers);
}

void
DragonflyPlus::VisitParameters(ParameterVisitor& visitor)
{
    VisitGroups(visitor);
    visitor.Count(
        Required("spinesPerGroup", "Number of spines of a group."), spinesPerGroup, {1, MAX_PORTS});
    VisitLinks(visitor);
}

FabricSize
DragonflyPlus::GroupSize() const
{
    return {1.0 * routersPerGroup + spinesPerGroup,
            1.0 * routersPerGroup * spinesPerGroup * localLinks};
}

DragonflyPlus::GlobalRouters
DragonflyPlus::GetGlobalRouters() const
{
    return {spinesPerGroup, "spinesPerGroup"};
}

void
DragonflyPlus::Wire(Topology& topology,
                    const ClusterSpec& spec,
                    const std::vector<DeviceId>& nics) const
{
    CheckRouter(spec,
                std::max(nicsPerRouter + spinesPerGroup * localLinks,
                         routersPerGroup * localLinks + globalLinks));
    const uint32_t count = GroupCount(spec);
    LinksPerGroupPair(count); // throws before anything is wired
    std::vector<DeviceId> leaves;
    std::vector<DeviceId> spines;
    for (uint32_t group = 0; group < count; group++)
    {
        const auto low = AddGroup(topology, DeviceKind::LeafSwitch, "leaf", group, routersPerGroup);
        const auto high =
            AddGroup(topology, DeviceKind::SpineSwitch, "spine", group, spinesPerGroup);
        JoinLayers(topology, low, high, localLinks, TrunkProfile(spec));
        leaves.insert(leaves.end(), low.begin(), low.end());
        spines.insert(spines.end(), high.begin(), high.end());
    }
    AttachNics(topology, spec, nics, leaves);
    JoinGroups(topology, spec, spines);
}

} // namespace weir
