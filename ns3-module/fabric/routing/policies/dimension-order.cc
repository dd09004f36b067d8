// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

#include <algorithm>

namespace weir
{

namespace
{

/** The lowest dimension first (Dally and Seitz 1987); among parallel links by hash. */
class DimensionOrderRouting : public RoutingPolicy
{
  public:
    using RoutingPolicy::RoutingPolicy;

    LinkId SelectHop(const Topology& topology,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override
    {
        uint8_t lowest = 0xff;
        for (const LinkId link : candidates)
        {
            lowest = std::min(lowest, topology.GetLink(link).dimension);
        }
        std::vector<LinkId> kept;
        std::copy_if(candidates.begin(),
                     candidates.end(),
                     std::back_inserter(kept),
                     [&](LinkId link) { return topology.GetLink(link).dimension == lowest; });
        return HashedHop(at, kept, tuple);
    }
};

} // namespace

std::unique_ptr<RoutingPolicy>
MakeDimensionOrderRouting(const FabricSpec& fabric)
{
    return std::make_unique<DimensionOrderRouting>(fabric.hashSeed);
}

} // namespace weir
