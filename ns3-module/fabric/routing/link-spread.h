// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_LINK_SPREAD_H
#define WEIR_FABRIC_ROUTING_LINK_SPREAD_H

#include "fabric/ids.h"
#include "fabric/routing/load-balancer.h"
#include "fabric/routing/path-choices.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/routing.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

/**
 * The spread where every switch divides what it is given evenly over all shortest paths: packet
 * spraying, and where routing by load begins. Only paths through the network are spread; all else
 * of a route stays.
 */
class EvenSpread : public LinkSpread
{
  public:
    /** @p routing must outlive it. */
    explicit EvenSpread(Routing& routing);

    const std::vector<LinkShare>& SharesOf(RouteId route) override;
    bool IsPerPacket() const override;

    /** A BalancedSpread where switches choose by load; null where they spray. */
    std::unique_ptr<LinkSpread> Concurrent(const std::vector<RouteLoad>& loads) override;

    /** A path whose flows, each 1 / unit of the bytes, load every link as the spread does. */
    struct Sprayed
    {
        PathId path;
        uint32_t unit{1};
        Time latency; //!< of the slowest path
    };

    /** Exact while the unit stays at most 2^16; see SharesOf(PathDag). */
    const Sprayed& SprayedOf(RouteId route);

    /** Routing::DecompositionOf, kept. */
    const RouteDecomposition& DecompositionOf(RouteId route);

    PathChoices& Choices()
    {
        return m_choices;
    }

    Routing& GetRouting()
    {
        return m_routing;
    }

    /** For load balancers, one at a time. */
    LinkScratch& Scratch()
    {
        return m_scratch;
    }

  private:
    /** Routes, and weights over the first one's; closer ones than a float tells are the same. */
    using LoadKey = std::vector<std::pair<uint32_t, float>>;

    /** Forgets everything when links of the router went or came. */
    void Refresh();

    Routing& m_routing;
    PathChoices m_choices;
    uint64_t m_revision;
    std::unordered_map<RouteId, std::vector<LinkShare>> m_shares;
    std::unordered_map<RouteId, Sprayed> m_sprayed;
    std::map<LoadKey, std::unique_ptr<LinkSpread>> m_balanced; //!< calls of one group load links
                                                               //!< in the same proportions
    std::size_t m_balancedRoutes{0};                           //!< in all keys
    LinkScratch m_scratch;
    std::unordered_map<RouteId, RouteDecomposition> m_decompositions; //!< whatever the router does
};

/** What links carry and can carry now, by LinkId. */
struct LinkStates
{
    std::vector<double> loads; //!< weights of flows over the rate
    std::vector<double> rates; //!< bytes/s; of a link that is down what it had
};

/**
 * The spread of several routes that are loaded at once, where switches choose by load.
 *
 * A channel of a collective is many flows, one after the other over each of its paths, and each
 * chooses by what it finds: what is slow stays longer, so that others choose other paths, until the
 * largest link utilization is as small as the paths allow: LoadBalancer.
 *
 * Flowlets do not come to that: a flow that does not pause keeps the path that was the least loaded
 * when it began. There each path is chosen once, one after the other; parts of one, where a route
 * has it many times.
 */
class BalancedSpread : public LinkSpread
{
  public:
    /**
     * @param others what is on the links already; null: nothing, and they have their rates.
     * References must outlive it, the links' states only this call.
     */
    BalancedSpread(EvenSpread& even, const std::vector<RouteLoad>& loads, const LinkStates* others);

    const std::vector<LinkShare>& SharesOf(RouteId route) override;
    bool IsPerPacket() const override;
    std::unique_ptr<LinkSpread> Concurrent(const std::vector<RouteLoad>& loads) override;

  private:
    static uint64_t KeyOf(DeviceId first, DeviceId last);

    /** Counts what one segment carries. @return null where there is nothing to choose. */
    PathDemand* AddSegment(const SegmentCount& segment, double weight);

    /** Each part of a segment takes the path that is the least loaded by now. */
    void ChooseOnce(PathDemand& demand,
                    const SegmentCount& segment,
                    double weight,
                    std::vector<double>& onLinks,
                    const std::vector<double>* rates);
    static void AddUp(PathDemand& demand);

    EvenSpread& m_even;
    PathChoices& m_choices;
    const Topology& m_topology;
    uint64_t m_turns{0}; //!< of detours
    std::vector<PathDemand> m_demands;
    std::unordered_map<uint64_t, uint32_t> m_byEnds; //!< into m_demands
    std::vector<LinkShare> m_shares;                 //!< of the last route asked for
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_LINK_SPREAD_H
