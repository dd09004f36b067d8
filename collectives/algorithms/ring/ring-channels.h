// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_RING_CHANNELS_H
#define WEIR_COLLECTIVES_ALGORITHMS_RING_CHANNELS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/protocol.h"

#include <cstdint>
#include <vector>

/**
 * @file
 * What every algorithm that runs on a communicator's ring channels has in common: limits,
 * hops as schedule connections.
 */
namespace weir
{

/** All channels of the communicator. */
uint32_t RingMaxChannels(const AlgorithmInputs& inputs);

/**
 * Over how many rings the process that serves most sends over the network at once. Only under LL
 * messages lie in the hosts' memory, where that counts.
 */
uint32_t RingSenders(const AlgorithmInputs& inputs);

/** A schedule of this call without channels yet. */
Schedule EmptySchedule(const AlgorithmInputs& inputs, Algorithm algorithm);

/**
 * Slices that a sender may be ahead on a hop. Over NVLink and PCIe it writes into the receiver's
 * buffer; over the network it has a buffer of its own before the receiver's, so it may be twice
 * as far ahead (NCCL's net.cc).
 */
uint32_t ConnectionSlots(const Connection& hop, const Chunking& chunking);

/** A hop as a schedule's connection, @p latency from a slice's last byte on the wire to its use. */
ScheduleConnection MakeConnection(uint32_t fromBlock,
                                  uint32_t toBlock,
                                  const Connection& hop,
                                  const Chunking& chunking,
                                  Time latency);

/** The first and largest slice of some loops, on the wire. */
Bytes FirstSlice(Protocol protocol, const std::vector<Loop>& loops);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_RING_CHANNELS_H
