// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_ROUTING_POLICIES_H
#define WEIR_FABRIC_ROUTING_ROUTING_POLICIES_H

#include "fabric/parameters/registry.h"
#include "fabric/routing/routing-policy.h"

namespace weir
{

using RoutingPolicyRegistry = Registry<RoutingPolicy>;

/** The routing policies of Weir, in the order in which lists name them. */
RoutingPolicyRegistry RoutingPolicies();

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTING_POLICIES_H
