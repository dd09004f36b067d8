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
    switch (fabric.routing)
    {
    case RoutingKind::Static:
        return MakeStaticRouting(fabric);
    case RoutingKind::Ecmp:
        return MakeEcmpRouting(fabric);
    case RoutingKind::DimensionOrder:
        return MakeDimensionOrderRouting(fabric);
    case RoutingKind::Valiant:
        return MakeValiantRouting(fabric);
    case RoutingKind::Adaptive:
        return MakeAdaptiveRouting(fabric);
    case RoutingKind::Flowlet:
        return MakeFlowletRouting(fabric);
    case RoutingKind::Spray:
        return MakeSprayRouting(fabric);
    }
    throw std::logic_error("MakeRoutingPolicy: not a kind of routing");
}

} // namespace weir
