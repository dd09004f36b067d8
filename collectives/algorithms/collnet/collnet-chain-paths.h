// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_CHAIN_PATHS_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_CHAIN_PATHS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/collnet-network.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The port by which a hop between nodes leaves, or by which it comes in. */
uint32_t CollNetPort(const AlgorithmInputs& inputs, const Connection& hop, bool leaves);

/** One node's chain on one channel, the head first. */
struct CollNetChain
{
    std::vector<uint32_t> ranks;
    std::vector<Connection> toHead;   //!< [i]: from ranks[i + 1] to ranks[i]
    std::vector<Connection> fromHead; //!< [i]: from ranks[i] to ranks[i + 1]
    CollNetHead head;
};

/** What a channel of the chains loads. */
struct CollNetChains
{
    std::vector<CollNetChain> chains; //!< by node
    CollNetPath network;
    uint32_t copies{1}; //!< channels over the same paths
};

/**
 * The chains on @p count channels from @p first on, those over the same paths once. They follow the
 * channel's ring; a head is the GPU at which it enters a node, or leaves it where the ring goes the
 * other way, so that all heads have the port of the first: a channel keeps to one rail.
 * @throws std::runtime_error when no switch reaches all heads.
 */
std::vector<CollNetChains> FindCollNetChains(const AlgorithmInputs& inputs,
                                             uint32_t first,
                                             uint32_t count);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_CHAIN_PATHS_H
