// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

namespace weir
{

namespace
{

/** The first shortest path, by link id: what a table without load balancing holds. */
class StaticRouting : public RoutingPolicy
{
  public:
    using RoutingPolicy::RoutingPolicy;

    LinkId SelectHop(const Topology& topology,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override
    {
        return candidates.front();
    }
};

} // namespace

std::unique_ptr<RoutingPolicy>
MakeStaticRouting(const FabricSpec& fabric)
{
    return std::make_unique<StaticRouting>(fabric.hashSeed);
}

} // namespace weir
