// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_STATIC_H
#define WEIR_FABRIC_ROUTING_POLICIES_STATIC_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/** What a table without load balancing holds. */
class StaticRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "static";
    }

    const char* Description() const override
    {
        return "The first shortest path, by link id.";
    }

    LinkId SelectHop(const Router& router,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override
    {
        return candidates.front();
    }
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_STATIC_H
