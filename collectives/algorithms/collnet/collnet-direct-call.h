// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_DIRECT_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_DIRECT_CALL_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/collnet-network.h"
#include "collectives/channels/nvls-graph.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Of one of @p heads on one channel: 128 KiB, 64 or 32 for small messages (enqueue.cc). */
Bytes CollNetDirectChunk(const AlgorithmInputs& inputs, uint32_t heads);

/** What streams and schedule of a CollNet direct all-reduce both need to know. */
struct CollNetDirectCall
{
    explicit CollNetDirectCall(const AlgorithmInputs& inputs);

    std::vector<NvlsNode> nodes;
    uint32_t heads;                    //!< of each node
    Bytes chunk;                       //!< CollNetDirectChunk
    Rate cap;                          //!< of one head's part on one channel, by a thread block
    Rate networkCap;                   //!< the same in the network
    std::vector<CollNetPath> networks; //!< by head
};

/** By member of a node: the path between it and a head; the head's own is empty. */
std::vector<Connection> CollNetDirectPaths(const AlgorithmInputs& inputs,
                                           const NvlsNode& node,
                                           uint32_t head,
                                           bool toHead);

/** One hop, and what a GPU loses on each further peer: 0.4 us, 0.5 up to 2.18 (tuning.cc). */
Time CollNetDirectHop(const AlgorithmInputs& inputs, const Connection& hop);

/** A path between a member and a head as a pipe of at most @p cap. */
ScheduleConnection CollNetDirectPipe(const AlgorithmInputs& inputs,
                                     const Connection& path,
                                     Rate cap);

/** A schedule without channels. */
Schedule EmptyCollNetDirectSchedule(const AlgorithmInputs& inputs);

/** The call as primitives. */
Schedule BuildCollNetDirectSchedule(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_DIRECT_CALL_H
