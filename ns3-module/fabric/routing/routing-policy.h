// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_ROUTING_POLICY_H
#define WEIR_FABRIC_ROUTING_ROUTING_POLICY_H

#include "fabric/ids.h"
#include "fabric/parameters/parameter-visitor.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

class Router;

/**
 * A routing policy: how switches select among the paths between two end points.
 *
 * A policy is a class with its parameters (routing-policies.h) and one entry in RoutingPolicies().
 * It gives the path of a flow when link loads are unknown. Transports also query whether the choice
 * depends on the load, and which unit of traffic (flow, flowlet, packet) keeps its path. The
 * defaults are those of ECMP.
 */
class RoutingPolicy : public Component
{
  public:
    /** The unit of traffic that keeps one path. */
    enum class Scope : uint8_t
    {
        Flow,    //!< all packets of a flow
        Flowlet, //!< the packets of a flow between two pauses
        Packet   //!< each packet: a flow is spread over all paths
    };

    /** The name is the value of `fabric.routing`. */
    using Component::Component;

    void VisitParameters(ParameterVisitor& visitor) override
    {
    }

    /** Whether links must have dimensions (Link::dimension). */
    virtual bool NeedsDimensions() const
    {
        return false;
    }

    /** Whether paths lead through an intermediate group or router (Detours). */
    virtual bool NeedsIntermediates() const
    {
        return false;
    }

    virtual Scope GetScope() const
    {
        return Scope::Flow;
    }

    /** Whether paths are selected by their load. */
    virtual bool IsLoadAware() const
    {
        return false;
    }

    /** Whether the path of a flow is known before it starts and does not change. */
    bool IsFixed() const
    {
        return GetScope() == Scope::Flow && !IsLoadAware();
    }

    /** The pause after which a flow may take another path; for Scope::Flowlet. */
    virtual Time FlowletGap() const
    {
        return Time();
    }

    /**
     * The next hop at device @p at: one of the equal-cost @p candidates (ascending, not empty). By
     * default candidates[h mod k] for k candidates, where h is the hash of the tuple, salted by the
     * device and the seed of the router.
     */
    virtual LinkId SelectHop(const Router& router,
                             DeviceId at,
                             const std::vector<LinkId>& candidates,
                             const FlowTuple& tuple) const;

    /**
     * The links from @p from to @p to over links of @p kinds (bits 1 << LinkKind), in order. By
     * default hop by hop along shortest paths.
     * @throws std::runtime_error naming both devices if there is no path.
     */
    virtual std::vector<LinkId> FindPath(
        Router& router, DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds) const;
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTING_POLICY_H
