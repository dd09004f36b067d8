// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly-plus.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

#include <algorithm>

namespace weir
{

const char*
DragonflyPlus::Name() const
{
    return "dragonfly-plus";
}

const char*
DragonflyPlus::Description() const
{
    return "Groups that are leaf-spine networks, all groups joined by their spines.";
}

void
DragonflyPlus::VisitParameters(ParameterVisitor& visitor)
{
    VisitGroups(visitor);
    visitor.Count(Required("spinesPerGroup", "Spines of a group."), spinesPerGroup, {1, MAX_PORTS});
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
    LinksOfAPair(count); // before anything is wired
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
