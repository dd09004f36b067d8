// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_QUEUE_PAIR_H
#define WEIR_COLLECTIVES_CHANNELS_QUEUE_PAIR_H

#include "fabric/cluster-spec.h"
#include "fabric/units.h"

namespace weir
{

/**
 * What one queue pair of a node's NICs moves at most; infinite where nothing is known to bound it.
 *
 * A ring over 8 x 400 Gb/s with two channels a port and one queue pair a channel reaches 307 to 320
 * GB/s, with 3 channels of 2 queue pairs 384 to 391 (measured on H100 over 8 nodes, NCCL_MIN_CTAS
 * and NCCL_IB_QPS_PER_CONNECTION): 320 / 8 ports / 2 = 20 GB/s a queue pair of a 400 Gb/s adapter.
 * Rings over 100 and 200 Gb/s ports reach their ports' rate with one.
 */
Rate QueuePairRate(const NodeSpec& node);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_QUEUE_PAIR_H
