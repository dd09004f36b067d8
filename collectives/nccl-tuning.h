// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_TUNING_H
#define WEIR_COLLECTIVES_NCCL_TUNING_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl-constants.h"
#include "fabric/path-table.h"
#include "fabric/units.h"

#include <cstdint>

/**
 * @file
 * How NCCL chooses: its own estimate of a ring's time per protocol, not Weir's
 * (src/graph/tuning.cc and enqueue.cc; formulas of 2.30.7, differences of older tags noted there).
 */
namespace weir
{

/**
 * NCCL's estimate of a ring: latency + bytes / bandwidth, infinite when it switches the protocol
 * off for this group.
 */
Time NcclRingTime(const NcclConstants& constants,
                  const Communicator& communicator,
                  CollectiveOp op,
                  Protocol protocol,
                  Bytes bytes);

/** The protocol with the least NcclRingTime; the earlier one of LL, LL128, Simple at a tie. */
Protocol ChooseRingProtocol(const NcclConstants& constants,
                            const Communicator& communicator,
                            CollectiveOp op,
                            Bytes bytes);

/**
 * Channels for a ring of @p bytes: dropped one by one while each thread would have less than the
 * protocol's threshold, and from 2.19 at most one per 32 KiB of traffic (enqueue.cc).
 */
uint32_t ChooseRingChannels(const NcclConstants& constants,
                            const Communicator& communicator,
                            CollectiveOp op,
                            Protocol protocol,
                            Bytes bytes);

/**
 * Whether NCCL enables LL128: compute capability 70, NVLink between the GPUs of a node, and NICs
 * reached without passing the CPU.
 */
bool AllowsLl128(const NcclConstants& constants,
                 const Communicator& communicator,
                 const PathTable& paths);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_TUNING_H
