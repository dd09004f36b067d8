// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_VALIANT_H
#define WEIR_FABRIC_ROUTING_POLICIES_VALIANT_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/**
 * Randomized routing (Valiant, SIAM J. Comput. 1982): over the network by way of an intermediate
 * switch that the flow's hash picks, along a shortest path to it and from it.
 */
class ValiantRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "valiant";
    }

    const char* Description() const override
    {
        return "By way of an intermediate switch that the flow's hash picks (Valiant 1982).";
    }

    bool NeedsIntermediates() const override
    {
        return true;
    }

    std::vector<LinkId> FindPath(Router& router,
                                 DeviceId from,
                                 DeviceId to,
                                 const FlowTuple& tuple,
                                 uint8_t kinds) const override;
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_VALIANT_H
