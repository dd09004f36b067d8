// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policy.h"

#include "fabric/routing/router.h"

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

} // namespace weir
