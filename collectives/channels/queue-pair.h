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
 * GB/s on some H100 clusters (8 nodes) and 366 on another (4 nodes, nccl-tests issue 309), with 3
 * channels of 2 queue pairs 384 to 391: of a 400 Gb/s adapter a queue pair has 19.2 to 22.9 GB/s;
 * 21.4 is the middle of 320 / 16 and 366 / 16. Rings over 100 and 200 Gb/s ports reach their ports'
 * rate with one.
 */
Rate QueuePairRate(const NodeSpec& node);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_QUEUE_PAIR_H
