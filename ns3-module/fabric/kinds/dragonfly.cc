// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/dragonfly.h"

#include "fabric/kinds/switch-layers.h"
#include "fabric/topology/cluster-spec.h"

namespace weir
{

const char*
Dragonfly::Name() const
{
    return "dragonfly";
}

const char*
Dragonfly::Description() const
{
    return "Groups of routers, each group and all groups fully joined.";
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
    LinksOfAPair(count); // before anything is wired
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

} // namespace weir
