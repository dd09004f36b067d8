// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_DIMENSION_ORDER_H
#define WEIR_FABRIC_ROUTING_POLICIES_DIMENSION_ORDER_H

#include "fabric/routing/routing-policy.h"

namespace weir
{

/** Dimension-order routing (Dally and Seitz 1987). */
class DimensionOrderRouting : public RoutingPolicy
{
  public:
    const char* Name() const override
    {
        return "dimension-order";
    }

    const char* Description() const override
    {
        return "The lowest dimension first (Dally and Seitz 1987).";
    }

    bool NeedsDimensions() const override
    {
        return true;
    }

    /** Of the candidates in the lowest dimension one by hash: those are parallel links. */
    LinkId SelectHop(const Router& router,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override;
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_DIMENSION_ORDER_H
