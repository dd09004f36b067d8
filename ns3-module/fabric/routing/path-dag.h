// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_PATH_DAG_H
#define WEIR_FABRIC_ROUTING_PATH_DAG_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * All equal-cost paths between two devices, as a directed acyclic graph: vertices in the order in
 * which paths pass them, the first where they begin and the last where they end.
 */
struct PathDag
{
    struct Arc
    {
        LinkId link;
        uint32_t from; //!< vertices; from < to
        uint32_t to;
    };

    std::vector<Arc> arcs; //!< by ascending `from`, then by ascending link
    uint32_t vertices{1};  //!< 0: there is no path
};

/** Renumbers vertices so that every arc leads to a higher one and @p last comes last. */
void OrderVertices(PathDag& dag, uint32_t last);

/** The latency of the slowest path: the largest sum of its links' latencies. */
Time LongestLatency(const PathDag& dag, const Topology& topology);

/** What part of a flow each arc carries when every vertex spreads it evenly over its arcs. */
struct EvenShares
{
    uint32_t unit{1};            //!< a share of 1 / unit is written as 1
    std::vector<uint32_t> parts; //!< by arc, in units
};

/**
 * Exact as long as the unit stays at most 2^16; beyond that each share is rounded to the nearest
 * 2^-16, and up from nothing.
 */
EvenShares SharesOf(const PathDag& dag);

/**
 * How loaded links would be with one more flow on them: of idle links the fast ones come first, and
 * a degraded one only when the others are as slow for their load.
 */
class LoadsWithOne
{
  public:
    /**
     * Both must outlive it.
     * @param loads by LinkId: weights of flows over the link's rate
     * @param rates by LinkId, bytes/s
     * @param weight of the one more
     */
    LoadsWithOne(const std::vector<double>& loads, const std::vector<double>& rates, double weight)
        : m_loads(loads),
          m_rates(rates),
          m_weight(weight)
    {
    }

    double On(LinkId link) const
    {
        return m_loads[link.Index()] + m_weight / m_rates[link.Index()];
    }

  private:
    const std::vector<double>& m_loads;
    const std::vector<double>& m_rates;
    double m_weight;
};

/**
 * The path whose most loaded link is the least loaded; of equal ones that of the least load in all,
 * then of the lowest links.
 */
std::vector<LinkId> LeastLoadedPath(const PathDag& dag, const LoadsWithOne& loads);

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_PATH_DAG_H
