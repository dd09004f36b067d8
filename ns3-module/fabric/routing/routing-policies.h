// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_ROUTING_POLICIES_H
#define WEIR_FABRIC_ROUTING_ROUTING_POLICIES_H

#include "fabric/parameters/registry.h"
#include "fabric/routing/routing-policy.h"

namespace weir
{

/** Static routing: one next hop per destination, without load balancing. */
class StaticRouting : public RoutingPolicy
{
  public:
    StaticRouting()
        : RoutingPolicy("static", "Single path: the first shortest path in the order of link IDs.")
    {
    }

    LinkId SelectHop(const Router& router,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override
    {
        return candidates.front();
    }
};

/** Equal-cost multipath (RFC 2992). */
class EcmpRouting : public RoutingPolicy
{
  public:
    EcmpRouting()
        : RoutingPolicy("ecmp",
                        "Equal-cost multipath: each switch hashes the flow's tuple with its own "
                        "salt (RFC 2992).")
    {
    }
};

/** Dimension-order routing (Dally and Seitz 1987). */
class DimensionOrderRouting : public RoutingPolicy
{
  public:
    DimensionOrderRouting()
        : RoutingPolicy("dimension-order",
                        "Paths traverse the lowest dimension first (Dally and Seitz 1987).")
    {
    }

    bool NeedsDimensions() const override
    {
        return true;
    }

    /** Selects by hash among the candidates in the lowest dimension, which are parallel links. */
    LinkId SelectHop(const Router& router,
                     DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const override;
};

/**
 * Randomized routing (Valiant, SIAM J. Comput. 1982): through an intermediate switch that the
 * flow's hash selects, along shortest paths to it and from it.
 */
class ValiantRouting : public RoutingPolicy
{
  public:
    ValiantRouting()
        : RoutingPolicy(
              "valiant",
              "Paths through an intermediate switch selected by the flow's hash (Valiant 1982).")
    {
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

/** Adaptive routing: selects the path by PathChoices::LeastLoaded when a flow starts. */
class AdaptiveRouting : public RoutingPolicy
{
  public:
    AdaptiveRouting()
        : RoutingPolicy("adaptive",
                        "The least loaded path when a flow starts; in a dragonfly also non-minimal "
                        "paths (UGAL).")
    {
    }

    bool IsLoadAware() const override
    {
        return true;
    }
};

/** Flowlet switching (CONGA: Alizadeh et al., SIGCOMM 2014). */
class FlowletRouting : public RoutingPolicy
{
  public:
    FlowletRouting()
        : RoutingPolicy(
              "flowlet",
              "As adaptive, but a flow selects a new path after each pause of flowletGap (CONGA).")
    {
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

    Time gap{Time::Microseconds(500)}; //!< minimum pause between flowlets
};

/** Packet spraying. */
class SprayRouting : public RoutingPolicy
{
  public:
    SprayRouting()
        : RoutingPolicy(
              "spray", "Every switch spreads the packets of a flow evenly over all shortest paths.")
    {
    }

    Scope GetScope() const override
    {
        return Scope::Packet;
    }
};

using RoutingPolicyRegistry = Registry<RoutingPolicy>;

/** The routing policies of Weir, in listing order. */
RoutingPolicyRegistry RoutingPolicies();

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTING_POLICIES_H
