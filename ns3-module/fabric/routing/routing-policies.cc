// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"

#include "fabric/routing/policies/adaptive.h"
#include "fabric/routing/policies/dimension-order.h"
#include "fabric/routing/policies/ecmp.h"
#include "fabric/routing/policies/flowlet.h"
#include "fabric/routing/policies/spray.h"
#include "fabric/routing/policies/static.h"
#include "fabric/routing/policies/valiant.h"

namespace weir
{

RoutingPolicyRegistry
RoutingPolicies()
{
    RoutingPolicyRegistry policies;
    policies.Add(StaticRouting());
    policies.Add(EcmpRouting());
    policies.Add(DimensionOrderRouting());
    policies.Add(ValiantRouting());
    policies.Add(AdaptiveRouting());
    policies.Add(FlowletRouting());
    policies.Add(SprayRouting());
    return policies;
}

} // namespace weir
