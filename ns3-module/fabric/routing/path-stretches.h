// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PATH_STRETCHES_H
#define WEIR_FABRIC_PATH_STRETCHES_H

#include "fabric/ids.h"
#include "fabric/routing/path-table.h"
#include "fabric/routing/router.h"
#include "fabric/topology/topology.h"

#include <vector>

namespace weir
{

/** A way through the network: from the link that enters its first switch to where it leaves. */
struct PathStretch
{
    std::vector<LinkId> links; //!< in order
    uint32_t times{1};         //!< how often the path has it
};

/** A path taken apart. */
struct PathStretches
{
    std::vector<PathStretch> network; //!< from NIC to NIC (or host to host)
    std::vector<PathLink> rest;       //!< links inside nodes, and network links of no such way
};

/**
 * Takes a path of shortest ways apart into ways from NIC to NIC.
 *
 * A path is a multiset of links, so where several ways meet in one switch it does not tell which
 * goes on where; any pairing carries the same bytes over the same end points. Each way here goes on
 * from switch to switch as long as it is a shortest one from where it began, then leaves.
 */
PathStretches TakeApart(Router& router, const Topology& topology, PathTable::Span links);

} // namespace weir

#endif // WEIR_FABRIC_PATH_STRETCHES_H
