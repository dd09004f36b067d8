// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"

#include "fabric/routing/router.h"

#include <algorithm>
#include <iterator>

namespace weir
{

LinkId
RoutingPolicy::SelectHop(const Router& router,
                         DeviceId at,
                         const std::vector<LinkId>& candidates,
                         const FlowTuple& tuple) const
{
    return candidates[HashFlow(tuple, at.Index(), router.HashSeed()) % candidates.size()];
}

std::vector<LinkId>
RoutingPolicy::FindPath(
    Router& router, DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds) const
{
    return router.MinimalPath(from, to, tuple, kinds);
}

LinkId
DimensionOrderRouting::SelectHop(const Router& router,
                                 DeviceId at,
                                 const std::vector<LinkId>& candidates,
                                 const FlowTuple& tuple) const
{
    const Topology& topology = router.GetTopology();
    uint8_t lowest = 0xff;
    for (const LinkId link : candidates)
    {
        lowest = std::min(lowest, topology.GetLink(link).dimension);
    }
    std::vector<LinkId> kept;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(kept), [&](LinkId link) {
        return topology.GetLink(link).dimension == lowest;
    });
    return RoutingPolicy::SelectHop(router, at, kept, tuple);
}

std::vector<LinkId>
ValiantRouting::FindPath(
    Router& router, DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds) const
{
    auto minimal = router.MinimalPath(from, to, tuple, kinds);
    if (kinds != NETWORK_KINDS || minimal.size() < 3)
    {
        return minimal; // within a node, or both end points are attached to one switch
    }
    const Topology& topology = router.GetTopology();
    const DeviceId first = topology.GetLink(minimal.front()).to;
    const DeviceId last = topology.GetLink(minimal.back()).from;
    const auto detours = router.GetDetours().FindAll(router, first, last);
    if (detours.empty())
    {
        return minimal;
    }
    const DeviceId middle =
        detours[HashFlow(tuple, first.Index(), router.HashSeed()) % detours.size()];
    std::vector<LinkId> path{minimal.front()};
    for (const auto& part : {router.MinimalPath(first, middle, tuple, NETWORK_KINDS),
                             router.MinimalPath(middle, last, tuple, NETWORK_KINDS)})
    {
        path.insert(path.end(), part.begin(), part.end());
    }
    path.push_back(minimal.back());
    return path;
}

void
FlowletRouting::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Duration({"flowletGap",
                      "Minimum idle time between two flowlets of a flow.",
                      "CONGA (Alizadeh et al., SIGCOMM 2014), section 3.4"},
                     gap,
                     {Time(), Time::Seconds(1)});
}

RoutingPolicyRegistry
RoutingPolicies()
{
    RoutingPolicyRegistry policies;
    policies.Add(StaticRouting());
    policies.Add(EcmpRouting());
    policies.Add(DimensionOrderRouting());
    policies.Add(ValiantRouting());
    policies.Add(AdaptiveRouting());
    policies.Add(FlowletRouting());
    policies.Add(SprayRouting());
    return policies;
}

} // namespace weir
