// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_CALL_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/collnet-network.h"
#include "collectives/channels/nvls-graph.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What streams and schedule of a CollNet direct all-gather or reduce-scatter both need to know.
 * Every GPU is the head of its own rank's part in all nodes: head h is the h-th GPU of each.
 */
struct CollNetPartsCall
{
    explicit CollNetPartsCall(const AlgorithmInputs& inputs);

    uint32_t Nodes() const
    {
        return static_cast<uint32_t>(nodes.size());
    }

    bool gathers; //!< or it scatters
    std::vector<NvlsNode> nodes;
    uint32_t heads;  //!< of each node: its GPUs
    Bytes chunk;     //!< of one rank's part: a channel's chunk of a head is one of each node
    Rate cap;        //!< of one head's chunks on one channel, by a thread block
    Rate networkCap; //!< the same in the network
    std::vector<std::vector<CollNetPath>> networks; //!< by head, then node: its rank's part
};

/**
 * Whether every rank is a head: NCCL's heads are the GPUs at which its graph's channels enter a
 * node, one channel each.
 */
bool IsEveryRankHead(const Communicator& communicator);

/** The call as primitives. */
Schedule BuildCollNetPartsSchedule(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_CALL_H
