// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/valiant.h"

#include "fabric/routing/router.h"

namespace weir
{

std::vector<LinkId>
ValiantRouting::FindPath(
    Router& router, DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds) const
{
    auto minimal = router.MinimalPath(from, to, tuple, kinds);
    if (kinds != NETWORK_KINDS || minimal.size() < 3)
    {
        return minimal; // inside a node, or both ends are attached to one switch
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

} // namespace weir
