// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/dimension-order.h"

#include "fabric/routing/router.h"

#include <algorithm>
#include <iterator>

namespace weir
{

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

} // namespace weir
