// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTER_H
#define WEIR_FABRIC_ROUTER_H

#include "fabric/ids.h"
#include "fabric/routing/route-dag.h"
#include "fabric/routing/switch-graph.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace weir
{

class Detours;

/** What a switch hashes: the flow's RoCEv2 five-tuple without the constant parts. */
struct FlowTuple
{
    uint32_t source{0};      //!< address of the sending end point
    uint32_t destination{0}; //!< address of the receiving end point
    uint16_t sourcePort{0};  //!< UDP source port: differs per queue pair
    uint16_t queuePair{0};
};

/**
 * Finds the links from one device to another: shortest paths (by Link::cost, mostly hops) within
 * what may be passed through (GPUs, NICs and hosts forward nothing), chosen among equals by the
 * routing kind.
 *
 * Distances are found by one breadth-first search per switch that destinations hang on, kept, and
 * shared by all end points of that switch; a route then costs the ports of the switches it passes.
 * A route from GPU to GPU across nodes is put together of three: GPU to NIC, NIC to NIC, NIC to
 * GPU. NVLink is preferred to PCIe inside a node (a device reached over NVLink is never reached
 * over PCIe instead); see RouteOver to force a kind.
 */
class Router
{
  public:
    Router(const Topology& topology, RoutingKind kind, uint64_t hashSeed);
    ~Router();

    /**
     * The links from @p from to @p to, in order; empty when they are one device.
     * ECMP: at each switch (and at a multi-homed start) the next link is candidates[h mod k], h a
     * hash of the tuple salted by the switch's id and the seed; candidates in ascending link id. In
     * dimension order they are those of the lowest dimension only. Adaptive, flowlet and spray
     * routing plan with the way of ECMP; what a transfer takes is LoadBalancingTransport's choice.
     * @throws std::runtime_error naming both devices when there is no path.
     */
    std::vector<LinkId> Route(DeviceId from, DeviceId to, const FlowTuple& tuple);

    /**
     * As Route, using only links for which @p kinds has the bit 1 << LinkKind. Valiant routing
     * concerns network links alone: it goes by way of a switch that Detours gives for the flow.
     */
    std::vector<LinkId> RouteOver(DeviceId from,
                                  DeviceId to,
                                  const FlowTuple& tuple,
                                  uint8_t kinds);

    /** Whether Route would find a way using only those kinds. */
    bool IsReachable(DeviceId from, DeviceId to, uint8_t kinds);

    /** All shortest ways. @throws std::runtime_error as Route. */
    RouteDag ShortestWays(DeviceId from, DeviceId to, uint8_t kinds);

    /**
     * The length of the shortest ways between two switches of the network (the sum of Link::cost);
     * SwitchGraph::UNREACHABLE when there is none.
     */
    uint32_t NetworkLength(DeviceId fromSwitch, DeviceId toSwitch);

    /** A shortest way between two switches of the network, as ECMP chooses. */
    std::vector<LinkId> MinimalRoute(DeviceId from,
                                     DeviceId to,
                                     const FlowTuple& tuple,
                                     uint8_t kinds);

    /** A link is not used from now on (or is again). Drops the kept next hops. */
    void SetUsable(LinkId link, bool usable);

    /** How often SetUsable was called: what was derived from routes before may be wrong after. */
    uint64_t Revision() const
    {
        return m_revision;
    }

    RoutingKind Kind() const
    {
        return m_kind;
    }

  private:
    /** Where ways to a destination end within one island of switches. */
    struct Landing
    {
        uint32_t island;
        const std::vector<uint16_t>* distances; //!< to the nearest landing switch, by local number
    };

    void CheckDevices(DeviceId from, DeviceId to) const;
    const SwitchGraph& GraphOf(uint8_t kinds);
    bool IsAllowed(LinkId link, uint8_t kinds) const;

    /** Fills m_landings with the islands from which @p to is reached. */
    void FindLandings(DeviceId to, uint8_t kinds);
    void AddLanding(DeviceId to, uint8_t kinds, uint32_t island, const std::vector<uint32_t>& at);

    /** Fills m_candidates with the first links of the shortest ways. @return whether there are any.
     */
    bool FindFirstHops(DeviceId from, DeviceId to, uint8_t kinds);

    /** As FindFirstHops, at a switch on the way. */
    void FindNextHops(DeviceId at, DeviceId to, uint8_t kinds);

    /** The length still to go from @p next on; SwitchGraph::UNREACHABLE when there is no way. */
    uint32_t RestAfter(DeviceId next, DeviceId to, const SwitchGraph& graph) const;

    /** Null when @p to is not reached from that island. */
    const Landing* LandingIn(uint32_t island) const;

    LinkId Choose(DeviceId at, const FlowTuple& tuple);

    /** Leaves of m_candidates those of the lowest dimension. */
    void KeepLowestDimension();

    /** @p minimal, or a way around by another switch. */
    std::vector<LinkId> ByValiant(std::vector<LinkId> minimal, const FlowTuple& tuple);

    const Topology& m_topology;
    RoutingKind m_kind;
    uint64_t m_seed;
    uint64_t m_revision{0};
    std::unique_ptr<Detours> m_detours;    //!< for Valiant routing
    std::vector<bool> m_usable;            //!< by link
    std::vector<uint32_t> m_firstIncoming; //!< by device, into m_incoming; one more at the end
    std::vector<LinkId> m_incoming;        //!< device by device, each ascending
    std::array<std::unique_ptr<SwitchGraph>, 16> m_graphs; //!< by kinds, made when first asked for
    std::unordered_map<uint64_t, std::vector<uint16_t>> m_distances; //!< by landing, see AddLanding
    std::vector<Landing> m_landings;                                 //!< of the route being found
    std::vector<LinkId> m_candidates;                                //!< of the hop being found
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTER_H
