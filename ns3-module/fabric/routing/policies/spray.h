// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_SPRAY_H
#define WEIR_FABRIC_ROUTING_POLICIES_SPRAY_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/** Packet spraying. */
class SprayRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "spray";
    }

    const char* Description() const override
    {
        return "Every switch spreads the packets of a flow evenly over all shortest paths.";
    }

    Scope GetScope() const override
    {
        return Scope::Packet;
    }
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_SPRAY_H
