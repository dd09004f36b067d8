// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_POLICIES_POLICIES_H
#define WEIR_FABRIC_ROUTING_POLICIES_POLICIES_H

#include "fabric/routing/routing-policy.h"
#include "fabric/topology/cluster-spec.h"

#include <memory>
#include <vector>

namespace weir
{

std::unique_ptr<RoutingPolicy> MakeStaticRouting(const FabricSpec& fabric); //!< static.cc
std::unique_ptr<RoutingPolicy> MakeEcmpRouting(const FabricSpec& fabric);   //!< ecmp.cc
std::unique_ptr<RoutingPolicy> MakeDimensionOrderRouting(
    const FabricSpec& fabric);                                               //!< dimension-order.cc
std::unique_ptr<RoutingPolicy> MakeValiantRouting(const FabricSpec& fabric); //!< valiant.cc
std::unique_ptr<RoutingPolicy> MakeAdaptiveRouting(const FabricSpec& fabric); //!< adaptive.cc
std::unique_ptr<RoutingPolicy> MakeFlowletRouting(const FabricSpec& fabric);  //!< flowlet.cc
std::unique_ptr<RoutingPolicy> MakeSprayRouting(const FabricSpec& fabric);    //!< spray.cc

/** A policy as a fabric names it. */
struct RoutingChoice
{
    const char* name;
    RoutingKind kind;
    std::unique_ptr<RoutingPolicy> (*make)(const FabricSpec& fabric);
};

/** All policies; a line for each. */
const std::vector<RoutingChoice>& RoutingChoices();

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_POLICIES_POLICIES_H
