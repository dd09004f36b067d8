// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTE_DAG_H
#define WEIR_FABRIC_ROUTE_DAG_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * All shortest ways between two devices, as a graph without cycles: places in the order in which
 * they are passed, the first being where the ways begin and the last where they end.
 */
struct RouteDag
{
    struct Arc
    {
        LinkId link;
        uint32_t from; //!< places; from < to
        uint32_t to;
    };

    std::vector<Arc> arcs; //!< by ascending `from`, then by ascending link
    uint32_t places{1};

    /** Whether there is only one way. */
    bool IsSingle() const
    {
        return arcs.size() + 1 == places;
    }
};

/** The time that the slowest of the ways takes: the largest sum of its links' latencies. */
Time LongestLatency(const RouteDag& dag, const Topology& topology);

/** What part of a flow each arc carries when every place spreads it evenly over its arcs. */
struct EvenShares
{
    uint32_t unit{1};            //!< a share of 1 / unit is written as 1
    std::vector<uint32_t> parts; //!< by arc, in units
};

/**
 * Exact as long as the unit stays at most 2^16; beyond that each share is rounded to the nearest
 * 2^-16, and up from nothing.
 */
EvenShares SharesOf(const RouteDag& dag);

/**
 * How loaded links would be if one more transfer took them: so that of idle links the fast ones
 * come first, and a degraded one only when the others are as slow for their load.
 */
class LoadsWithOne
{
  public:
    /**
     * Both must outlive it.
     * @param loads by LinkId: weights of transfers over the link's rate
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
 * The way whose most loaded link is the least loaded; of equal ones one of little load in all, and
 * of low links.
 */
std::vector<LinkId> LeastLoadedWay(const RouteDag& dag, const LoadsWithOne& loads);

} // namespace weir

#endif // WEIR_FABRIC_ROUTE_DAG_H
