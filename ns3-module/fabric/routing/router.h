// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_ROUTER_H
#define WEIR_FABRIC_ROUTING_ROUTER_H

#include "fabric/ids.h"
#include "fabric/routing/detours.h"
#include "fabric/routing/flow-hash.h"
#include "fabric/routing/path-dag.h"
#include "fabric/routing/routing-policy.h"
#include "fabric/routing/switch-graph.h"
#include "fabric/topology/topology.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * Finds the links from one device to another: shortest paths (by the sum of Link::cost, typically
 * hops) through forwarding devices (GPUs, NICs and hosts do not forward). The routing policy of the
 * fabric selects among equal-cost paths.
 *
 * Distances are found by one breadth-first search per switch that destinations are attached to.
 * They are cached and shared by all end points of that switch. A path then costs time proportional
 * to the ports of the switches that it passes. A path between GPUs of different nodes is composed
 * of three parts: GPU to NIC, NIC to NIC, NIC to GPU (see Routing).
 */
class Router
{
  public:
    /**
     * Topology and policy must outlive this object.
     * @param hashSeed seed of the hash salts of the switches.
     */
    Router(const Topology& topology, const RoutingPolicy& policy, uint64_t hashSeed);

    /**
     * The links from @p from to @p to over links of @p kinds (bits 1 << LinkKind), in order: the
     * path that the policy gives a flow with @p tuple when link loads are unknown. Empty if they
     * are the same device.
     * @throws std::runtime_error naming both devices if there is no path.
     */
    std::vector<LinkId> RouteOver(DeviceId from,
                                  DeviceId to,
                                  const FlowTuple& tuple,
                                  uint8_t kinds);

    /** Whether there is a path over links of @p kinds. */
    bool IsReachable(DeviceId from, DeviceId to, uint8_t kinds);

    /**
     * A shortest path, each next hop selected by the policy.
     * @throws std::runtime_error as RouteOver.
     */
    std::vector<LinkId> MinimalPath(DeviceId from,
                                    DeviceId to,
                                    const FlowTuple& tuple,
                                    uint8_t kinds);

    /**
     * All shortest paths over the network; null if there are none. Cached, and valid until
     * SetUsable changes a link.
     */
    const PathDag* NetworkPaths(DeviceId from, DeviceId to);

    /**
     * The length of the shortest paths between two switches of the network (the sum of Link::cost);
     * SwitchGraph::UNREACHABLE if there are none.
     */
    uint32_t NetworkDistance(DeviceId fromSwitch, DeviceId toSwitch);

    /** Intermediate switches of non-minimal paths. */
    const Detours& GetDetours() const
    {
        return m_detours;
    }

    /**
     * Sets whether paths may use a link. Clears the cached distances and paths.
     * @throws std::invalid_argument if the link does not exist.
     */
    void SetUsable(LinkId link, bool usable);

    bool IsUsable(LinkId link) const
    {
        return m_usable[link.Index()];
    }

    /**
     * The number of times that SetUsable changed a link. Results derived from paths are valid for
     * one revision.
     */
    uint64_t Revision() const
    {
        return m_revision;
    }

    const RoutingPolicy& Policy() const
    {
        return m_policy;
    }

    uint64_t HashSeed() const
    {
        return m_hashSeed;
    }

    const Topology& GetTopology() const
    {
        return m_topology;
    }

  private:
    /** Where paths to a destination leave one connected component of switches. */
    struct Egress
    {
        uint32_t component;
        const std::vector<uint16_t>* distances; //!< to the nearest egress switch, by local number
    };

    void CheckDevices(DeviceId from, DeviceId to) const;
    const SwitchGraph& GraphOf(uint8_t kinds);
    bool IsAllowed(LinkId link, uint8_t kinds) const;

    /** Sets m_egresses to the egress switches, by component, of paths to @p to. */
    void FindEgresses(DeviceId to, uint8_t kinds);
    void AddEgress(DeviceId to, uint8_t kinds, uint32_t component, const std::vector<uint32_t>& at);

    /**
     * Sets m_candidates to the first links of shortest paths from @p from to @p to, after
     * FindEgresses.
     * @return whether there are any
     */
    bool FindFirstHops(DeviceId from, DeviceId to, uint8_t kinds);

    /** As FindFirstHops, for a switch on the path. */
    void FindNextHops(DeviceId at, DeviceId to, uint8_t kinds);

    /** The distance from @p next to @p to; SwitchGraph::UNREACHABLE if there is no path. */
    uint32_t DistanceAfter(DeviceId next, DeviceId to, const SwitchGraph& graph) const;

    /** The egress of a component; null if the destination cannot be reached from it. */
    const Egress* EgressOf(uint32_t component) const;

    LinkId Select(DeviceId at, const FlowTuple& tuple) const;

    /** All shortest paths over the network between devices that have one. */
    PathDag EqualCostPaths(DeviceId from, DeviceId to);

    const Topology& m_topology;
    const RoutingPolicy& m_policy;
    uint64_t m_hashSeed;
    Detours m_detours;
    uint64_t m_revision{0};
    std::vector<bool> m_usable;            //!< by link
    std::vector<uint32_t> m_firstIncoming; //!< by device, into m_incoming; one more at the end
    std::vector<LinkId> m_incoming;        //!< by device, each ascending
    std::array<std::unique_ptr<SwitchGraph>, 16> m_graphs; //!< by kinds; created on first use
    std::unordered_map<uint64_t, std::vector<uint16_t>> m_distances; //!< by egress, see AddEgress
    std::unordered_map<uint64_t, PathDag> m_networkPaths;            //!< by both ends
    std::vector<Egress> m_egresses;                                  //!< of the current path
    std::vector<LinkId> m_candidates;                                //!< of the current hop
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTER_H
