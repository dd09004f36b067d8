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
struct CollNetWay
{
    PathId path;
    Time latency; //!< NCCL's for the network, its wire's part replaced by this tree's own
};

/**
 * @param heads one in each node. @param choice among equal roots, see FindSwitchTree.
 * @throws std::runtime_error when no switch reaches all of them.
 */
CollNetWay FindCollNetWay(const AlgorithmInputs& inputs,
                          Algorithm algorithm,
                          const std::vector<CollNetHead>& heads,
                          uint32_t choice);

/** What the network takes in @ref into from each head, and gives to each from @ref outOf. */
struct CollNetBlocks
{
    uint32_t into{0};
    uint32_t outOf{0};
};

/**
 * Adds the switches for chunk @p chunk of every pass: a block that sums what @p heads blocks send
 * it, @p way of at most @p cap a channel, and a block that sends the total to as many.
 */
CollNetBlocks AddCollNet(ScheduleWiring& wiring,
                         const AlgorithmInputs& inputs,
                         uint32_t chunk,
                         uint32_t heads,
                         const CollNetWay& way,
                         Rate cap);

/** A pipe between a head and AddCollNet's blocks: its links are all in the way between these. */
ScheduleConnection HeadToCollNet(const AlgorithmInputs& inputs);

/**
 * The graph of CollNet's chains, which NCCL searches as it does that of trees (init.cc); none
 * inside one node or over a network that does not reduce (FabricSpec::inNetworkReduction).
 */
GraphSpeed SearchCollNet(const Communicator& communicator, const Connector& connector);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_COLLNET_NETWORK_H
