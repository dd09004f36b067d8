// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_COLLNET_NETWORK_H
#define WEIR_COLLECTIVES_CHANNELS_COLLNET_NETWORK_H

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
 * The paths of an all-gather's parts (@p gathers) or a reduce-scatter's, by head. A head's part of
 * an all-gather goes up to the root and from there down to all heads, its own too. That of a
 * reduce-scatter comes up from all heads, sums go on together, and the total goes down to its head.
 * The others as for FindCollNetPath.
 */
std::vector<CollNetPath> FindCollNetPartPaths(const AlgorithmInputs& inputs,
                                              Algorithm algorithm,
                                              const std::vector<CollNetHead>& heads,
                                              uint32_t choice,
                                              bool gathers);

/**
 * What one channel of CollNet direct moves of a head's data: its share of what the head reaches of
 * its port (NodeCostKind::CollNetEfficiency), of which @p path is a path through the network.
 */
Rate CollNetDirectRate(const AlgorithmInputs& inputs, const CollNetPath& path);

/** What the network takes in @ref into from each head, and gives to each from @ref outOf. */
struct CollNetBlocks
{
    uint32_t into{0};
    uint32_t outOf{0};
};

/**
 * Adds the switches for chunk @p chunk of every pass: a block that sums what @p heads blocks send
 * it, @p path of at most @p cap a channel, and a block that sends the total to as many.
 */
CollNetBlocks AddCollNet(ScheduleWiring& wiring,
                         const AlgorithmInputs& inputs,
                         uint32_t chunk,
                         uint32_t heads,
                         const CollNetPath& path,
                         Rate cap);

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

/** The same with fewer givers or takers. */
CollNetBlocks AddCollNet(ScheduleWiring& wiring,
                         const AlgorithmInputs& inputs,
                         uint32_t chunk,
                         CollNetEnds ends,
                         const CollNetPipe& pipe);

/** A pipe between a head and AddCollNet's blocks: its links are all in the path between these. */
ScheduleConnection HeadToCollNet(const AlgorithmInputs& inputs);

/**
 * The graph of CollNet's chains, which NCCL searches as it does that of trees (init.cc); none
 * inside one node or over a network that does not reduce (FabricSpec::inNetworkReduction).
 */
GraphSpeed SearchCollNet(const Communicator& communicator, const Connector& connector);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_COLLNET_NETWORK_H
