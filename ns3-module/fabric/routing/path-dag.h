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
 * All equal-cost paths between two devices, as a directed acyclic graph. Vertices are in
 * topological order; paths begin at the first vertex and end at the last.
 */
struct PathDag
{
    struct Arc
    {
        LinkId link;
        uint32_t from; //!< vertices; from < to
        uint32_t to;
    };

    std::vector<Arc> arcs; //!< ascending by `from`, then by link
    uint32_t vertices{1};  //!< 0: no path
};

/** Renumbers the vertices in topological order, with @p last at the end. */
void OrderVertices(PathDag& dag, uint32_t last);

/** The latency of the slowest path: the largest sum of its links' latencies. */
Time LongestLatency(const PathDag& dag, const Topology& topology);

/** The fraction of a flow on each arc if every vertex splits it evenly over its outgoing arcs. */
struct EvenShares
{
    uint32_t unit{1};            //!< denominator of the shares
    std::vector<uint32_t> parts; //!< numerator of the share, by arc
};

/**
 * The even shares of the arcs of @p dag. Exact while the unit is at most 2^16; beyond that each
 * share is rounded to the nearest multiple of 2^-16, but not to zero.
 */
EvenShares SharesOf(const PathDag& dag);

/**
 * The loads of links with one more flow. Of idle links, fast ones have the lower load; a degraded
 * link is selected only if the load of the others makes them as slow.
 */
struct LoadsWithFlow
{
    const std::vector<double>& loads; //!< by LinkId: sum of flow weights / rate of the link
    const std::vector<double>& rates; //!< by LinkId, bytes/s
    double weight;                    //!< of the additional flow

    double On(LinkId link) const
    {
        return loads[link.Index()] + weight / rates[link.Index()];
    }
};

/**
 * The path with the smallest maximum link load; ties break by the smallest sum of loads, then by
 * the lowest links.
 */
std::vector<LinkId> LeastLoadedPath(const PathDag& dag, const LoadsWithFlow& loads);

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_PATH_DAG_H
