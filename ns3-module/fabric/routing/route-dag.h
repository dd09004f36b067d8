// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTE_DAG_H
#define WEIR_FABRIC_ROUTE_DAG_H

#include "fabric/ids.h"
#include "fabric/topology.h"
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
 * The way whose most loaded link is the least loaded; of equal ones one of little load in all, and
 * of low links.
 * @param loads by LinkId: what is on a link over its rate.
 */
std::vector<LinkId> LeastLoadedWay(const RouteDag& dag, const std::vector<double>& loads);

} // namespace weir

#endif // WEIR_FABRIC_ROUTE_DAG_H
