// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_ECMP_H
#define WEIR_FABRIC_ROUTING_POLICIES_ECMP_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/** Equal-cost multipath (RFC 2992). */
class EcmpRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "ecmp";
    }

    const char* Description() const override
    {
        return "Each switch hashes the flow's tuple with a salt of its own (RFC 2992).";
    }
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_ECMP_H
