// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_CHUNKING_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_CHUNKING_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/nccl/nccl-constants.h"
#include "fabric/units.h"

#include <cstdint>

/**
 * @file
 * How NVLS and NVLSTree cut a message and how fast their thread blocks are: NCCL's nvls.cc,
 * enqueue.cc and all_reduce.h.
 */
namespace weir
{

/**
 * Channels of NVLS and NVLSTree: 16 for Hopper, 24 or 32 for Blackwell, within the communicator's
 * ChannelLimits (nvls.cc, init.cc: NCCL_MIN_CTAS, NCCL_MAX_CTAS).
 */
uint32_t NvlsChannels(const AlgorithmInputs& inputs);

/** What one head works on at a time: 128 KiB, less for small messages (enqueue.cc). */
Bytes NvlsChunk(Bytes bytes, uint32_t channels, uint32_t heads);

/** The same for NVLSTree; at most 64 KiB on 4 nodes or more. */
Bytes NvlsTreeChunk(Bytes bytes, uint32_t channels, uint32_t heads, uint32_t nodes);

/** Passes of the outer loop. */
uint32_t NvlsPasses(const std::vector<Loop>& loops);

/** Before the first byte: NCCL's base and hardware latency of NVLS (tuning.cc), 25 us from 2.22. */
Time NvlsStartLatency(const NcclConstants& constants, Algorithm algorithm);

/**
 * What a head spends per chunk besides moving it: it waits for the flags of all GPUs, drains its
 * accesses and posts. Measured: 8 H100, NCCL all-reduce of 2 MiB to 16 GiB (NVIDIA
 * dgxc-benchmarking 841f546, one process a GPU); the time of one more pass of the outer loop, at
 * chunks of 16, 32, 64, 128 KiB, is 11.7, 19.5, 32.5, 61.1 us: 4.5 us and 3.5 us per MiB of the
 * pass (16 channels x 8 heads x chunk). 3 x 0.3 us of it are crossings of the NVSwitch, which are
 * replaced by @p crossing each. An all-gather drains stores alone and a reduce-scatter loads alone:
 * estimate, half of it each.
 */
Time NvlsSyncLatency(const NodeCosts& costs, Time crossing);

/**
 * What the thread groups of one channel copy from the user's buffer to where the NVSwitch reads,
 * and what others copy back, GB/s each: taken for what the block of a ring moves.
 */
Rate NvlsCopyRate(const NcclConstants& constants);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_CHUNKING_H
