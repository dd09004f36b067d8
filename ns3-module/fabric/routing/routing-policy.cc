// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policy.h"

#include "fabric/routing/policies/policies.h"
#include "fabric/routing/router.h"
#include "fabric/topology/cluster-spec.h"

#include <stdexcept>

namespace weir
{

LinkId
RoutingPolicy::SelectHop(const Topology& topology,
                         DeviceId at,
                         const std::vector<LinkId>& candidates,
                         const FlowTuple& tuple) const
{
    return HashedHop(at, candidates, tuple);
}

std::vector<LinkId>
RoutingPolicy::FindPath(
    Router& router, DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds) const
{
    return router.MinimalPath(from, to, tuple, kinds);
}

std::unique_ptr<RoutingPolicy>
MakeRoutingPolicy(const FabricSpec& fabric)
{
    for (const RoutingChoice& choice : RoutingChoices())
    {
        if (choice.kind == fabric.routing)
        {
            return choice.make(fabric);
        }
    }
    throw std::logic_error("MakeRoutingPolicy: a routing without a policy");
}

} // namespace weir
