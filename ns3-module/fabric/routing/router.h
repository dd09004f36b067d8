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
 * Finds the links from one device to another: shortest paths (by Link::cost, mostly hops) within
 * what may be passed through (GPUs, NICs and hosts forward nothing), chosen among equals by the
 * fabric's routing policy.
 *
 * Distances are found by one breadth-first search per switch that destinations are attached to,
 * kept, and shared by all end points of that switch; a path then costs the ports of the switches
 * that it passes. A path from GPU to GPU across nodes is put together of three: GPU to NIC, NIC to
 * NIC, NIC to GPU (RouteTable).
 */
class Router
{
  public:
    /**
     * Topology and policy must outlive it.
     * @param hashSeed what the salts of the switches derive from.
     */
    Router(const Topology& topology, const RoutingPolicy& policy, uint64_t hashSeed);

    /**
     * The links from @p from to @p to, in order; empty when they are one device. NVLink is
     * preferred to PCIe inside a node: a device reached over NVLink is never reached over PCIe.
     * @throws std::runtime_error naming both devices when there is no path.
     */
    std::vector<LinkId> Route(DeviceId from, DeviceId to, const FlowTuple& tuple);

    /**
     * As Route, using only links for which @p kinds has the bit 1 << LinkKind: the path that the
     * policy gives a flow of that tuple while nothing is known of loads.
     */
    std::vector<LinkId> RouteOver(DeviceId from,
                                  DeviceId to,
                                  const FlowTuple& tuple,
                                  uint8_t kinds);

    /** Whether there is a path using only those kinds. */
    bool IsReachable(DeviceId from, DeviceId to, uint8_t kinds);

    /** A shortest path, each next hop selected by the policy. @throws std::runtime_error as Route.
     */
    std::vector<LinkId> MinimalPath(DeviceId from,
                                    DeviceId to,
                                    const FlowTuple& tuple,
                                    uint8_t kinds);

    /** All shortest paths over links of @p kinds. @throws std::runtime_error as Route. */
    PathDag EqualCostPaths(DeviceId from, DeviceId to, uint8_t kinds);

    /**
     * All shortest paths over the network; null when there are none. Kept, and valid, until
     * SetUsable changes links.
     */
    const PathDag* NetworkPaths(DeviceId from, DeviceId to);

    /**
     * The length of the shortest paths between two switches of the network (the sum of Link::cost);
     * SwitchGraph::UNREACHABLE when there is none.
     */
    uint32_t NetworkDistance(DeviceId fromSwitch, DeviceId toSwitch);

    /** Intermediate switches of non-minimal paths. */
    const Detours& GetDetours() const
    {
        return m_detours;
    }

    /** A link is not used from now on (or is again). Drops what was found. */
    void SetUsable(LinkId link, bool usable);

    bool IsUsable(LinkId link) const
    {
        return m_usable[link.Index()];
    }

    /** How often SetUsable changed a link: what was derived from paths before may be wrong after.
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

    /** Sets m_egresses to where paths to @p to leave each component that reaches it. */
    void FindEgresses(DeviceId to, uint8_t kinds);
    void AddEgress(DeviceId to, uint8_t kinds, uint32_t component, const std::vector<uint32_t>& at);

    /**
     * Sets m_candidates to the first links of shortest paths from @p from to @p to, whose egresses
     * are found. @return whether there are any.
     */
    bool FindFirstHops(DeviceId from, DeviceId to, uint8_t kinds);

    /** As FindFirstHops, at a switch on the path. */
    void FindNextHops(DeviceId at, DeviceId to, uint8_t kinds);

    /** The length from @p next on; SwitchGraph::UNREACHABLE when there is no path. */
    uint32_t DistanceAfter(DeviceId next, DeviceId to, const SwitchGraph& graph) const;

    /** Null when @p to is not reached from that component. */
    const Egress* EgressOf(uint32_t component) const;

    LinkId Select(DeviceId at, const FlowTuple& tuple) const;

    const Topology& m_topology;
    const RoutingPolicy& m_policy;
    uint64_t m_hashSeed;
    Detours m_detours;
    uint64_t m_revision{0};
    std::vector<bool> m_usable;            //!< by link
    std::vector<uint32_t> m_firstIncoming; //!< by device, into m_incoming; one more at the end
    std::vector<LinkId> m_incoming;        //!< device by device, each ascending
    std::array<std::unique_ptr<SwitchGraph>, 16> m_graphs; //!< by kinds, made when first asked for
    std::unordered_map<uint64_t, std::vector<uint16_t>> m_distances; //!< by egress, see AddEgress
    std::unordered_map<uint64_t, PathDag> m_networkPaths;            //!< by both ends
    std::vector<Egress> m_egresses;                                  //!< of the path being found
    std::vector<LinkId> m_candidates;                                //!< of the hop being found
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_ROUTER_H
