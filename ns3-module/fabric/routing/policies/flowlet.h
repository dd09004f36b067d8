// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_FLOWLET_H
#define WEIR_FABRIC_ROUTING_POLICIES_FLOWLET_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/** Flowlet switching (CONGA: Alizadeh et al., SIGCOMM 2014). */
class FlowletRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "flowlet";
    }

    const char* Description() const override
    {
        return "As adaptive, but a flow keeps its path until it has paused for a while (CONGA).";
    }

    void VisitParameters(ParameterVisitor& visitor) override;

    Scope GetScope() const override
    {
        return Scope::Flowlet;
    }

    bool IsLoadAware() const override
    {
        return true;
    }

    Time FlowletGap() const override
    {
        return gap;
    }

    Time gap{Time::Microseconds(500)}; //!< a pause that ends a flowlet
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_FLOWLET_H
