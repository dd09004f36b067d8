// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_NETWORK_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_NETWORK_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/schedule/schedule-wiring.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** A GPU that talks to the reducing network, and the port by which it does. */
struct CollNetHead
{
    uint32_t rank{0}; //!< in the group
    uint32_t nic{0};  //!< by number in its node
};

/** The port by which a hop between nodes leaves, or by which it comes in. */
uint32_t CollNetPort(const AlgorithmInputs& inputs, const Connection& hop, bool leaves);

/**
 * A reduction in the network as a connection: what each head gives goes to its NIC and up the tree
 * of switches, where sums go on together, and the total comes down to all: every link of the tree
 * carries each byte once in each direction, at the rate of the slowest.
 */
struct CollNetPath
{
    RouteId route;
    Time latency; //!< NCCL's for the network, its wire's part replaced by this tree's own
};

/**
 * @param heads one in each node. @param choice among equal roots, see FindSwitchTree.
 * @throws std::runtime_error when no switch reaches all of them.
 */
CollNetPath FindCollNetPath(const AlgorithmInputs& inputs,
                            Algorithm algorithm,
                            const std::vector<CollNetHead>& heads,
                            uint32_t choice);

/**
 * The paths of an all-gather's or a reduce-scatter's parts, by head. A head's part of
 * an all-gather goes up to the root and from there down to all heads, its own too. That of a
 * reduce-scatter comes up from all heads, sums go on together, and the total goes down to its head.
 * The others as for FindCollNetPath.
 */
std::vector<CollNetPath> FindCollNetPartPaths(const AlgorithmInputs& inputs,
                                              Algorithm algorithm,
                                              const std::vector<CollNetHead>& heads,
                                              uint32_t choice);

/** What the network takes in @ref into from each head, and gives to each from @ref outOf. */
struct CollNetBlocks
{
    uint32_t into{0};
    uint32_t outOf{0};
};

/** How many heads give the network something, and how many take the sum. */
struct CollNetEnds
{
    uint32_t givers{1};
    uint32_t takers{1};
};

/** A path with what ScheduleConnection wants to know of it. */
struct CollNetPipe
{
    CollNetPath path;
    Rate cap;
    double weight{1};
};

/**
 * Adds the switches for chunk @p chunk of every pass: a block that sums what its givers send it,
 * the pipe, and a block that sends the total to its takers.
 */
CollNetBlocks AddCollNet(ScheduleWiring& wiring,
                         const AlgorithmInputs& inputs,
                         uint32_t chunk,
                         CollNetEnds ends,
                         const CollNetPipe& pipe);

/** What a head's @p chunk has of each of @p nodes nodes, in whole multiples of the alignment. */
Bytes PartOf(Bytes chunk, uint32_t nodes);

/** A pipe over no links, as between a head and AddCollNet's blocks: theirs has all of them. */
ScheduleConnection WithinDevice(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_NETWORK_H
