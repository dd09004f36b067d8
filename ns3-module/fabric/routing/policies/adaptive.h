// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_ADAPTIVE_H
#define WEIR_FABRIC_ROUTING_POLICIES_ADAPTIVE_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/** The choice is PathChoices::LeastLoaded. */
class AdaptiveRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "adaptive";
    }

    const char* Description() const override
    {
        return "The least loaded path when a flow starts, in a dragonfly a non-minimal one where "
               "that is worth it (UGAL).";
    }

    bool IsLoadAware() const override
    {
        return true;
    }
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_ADAPTIVE_H
