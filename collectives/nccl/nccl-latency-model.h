// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_LATENCY_MODEL_H
#define WEIR_COLLECTIVES_NCCL_NCCL_LATENCY_MODEL_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"

namespace weir
{

/**
 * NCCL's latency of a call of no size (src/graph/tuning.cc, ncclTopoTuneModel): the base plus what
 * the algorithm's steps cost inside a node and between nodes.
 */
Time NcclLatency(const NcclConstants& constants,
                 const Communicator& communicator,
                 Algorithm algorithm,
                 CollectiveOp op,
                 Protocol protocol);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_LATENCY_MODEL_H
