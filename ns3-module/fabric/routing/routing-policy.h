// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_ROUTING_POLICY_H
#define WEIR_FABRIC_ROUTING_ROUTING_POLICY_H

#include "fabric/ids.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace weir
{

class Router;
struct FabricSpec;

/**
 * How switches choose among the paths between two end points. Each policy is one file in policies/.
 *
 * A policy says which path a flow has when nothing is known of loads; whoever moves bytes asks the
 * rest of it: whether choices follow the load that they find, and what keeps to one path.
 */
class RoutingPolicy
{
  public:
    /** What keeps to one path. */
    enum class Scope : uint8_t
    {
        Flow,    //!< all packets of a flow
        Flowlet, //!< packets of a flow without a pause between them
        Packet   //!< each packet for itself: a flow is spread over all paths
    };

    /** @param hashSeed what the switches' salts derive from */
    explicit RoutingPolicy(uint64_t hashSeed)
        : m_hashSeed(hashSeed)
    {
    }

    virtual ~RoutingPolicy() = default;

    virtual Scope GetScope() const
    {
        return Scope::Flow;
    }

    /** Whether a path is chosen by the load on it. */
    virtual bool IsLoadAware() const
    {
        return false;
    }

    /** Whether the path of a flow is known before it starts, and its own. */
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
     * The next hop at device @p at, one of the equal-cost @p candidates (ascending, not empty).
     * By default candidates[h mod k], h the hash of the tuple salted by the device and the seed.
     */
    virtual LinkId SelectHop(const Topology& topology,
                             DeviceId at,
                             const std::vector<LinkId>& candidates,
                             const FlowTuple& tuple) const;

    /**
     * The links from @p from to @p to over links of @p kinds (bits 1 << LinkKind), in order. By
     * default hop by hop along shortest paths.
     * @throws std::runtime_error naming both devices when there is no path.
     */
    virtual std::vector<LinkId> FindPath(
        Router& router, DeviceId from, DeviceId to, const FlowTuple& tuple, uint8_t kinds) const;

    uint64_t HashSeed() const
    {
        return m_hashSeed;
    }

  protected:
    /** candidates[h mod k]. */
    LinkId HashedHop(DeviceId at,
                     const std::vector<LinkId>& candidates,
                     const FlowTuple& tuple) const
    {
        return candidates[HashFlow(tuple, at.Index(), m_hashSeed) % candidates.size()];
    }

  private:
    uint64_t m_hashSeed;
};

/** The policy of a fabric. */
std::unique_ptr<RoutingPolicy> MakeRoutingPolicy(const FabricSpec& fabric);

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTING_POLICY_H
