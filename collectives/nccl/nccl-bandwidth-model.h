// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_BANDWIDTH_MODEL_H
#define WEIR_COLLECTIVES_NCCL_NCCL_BANDWIDTH_MODEL_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"

namespace weir
{

/**
 * What NCCL expects of an algorithm under a protocol, GB/s of the call's size (src/graph/tuning.cc,
 * ncclTopoTuneModel, before the correction for the size); 0 where it switches the pair off: no
 * such graph, an operation that the algorithm does not have, LL128 where it is not allowed.
 */
double NcclAlgorithmBandwidth(const NcclConstants& constants,
                              const Communicator& communicator,
                              Algorithm algorithm,
                              CollectiveOp op,
                              Protocol protocol);

/**
 * Steps of a ring: 2(n - 1) for all-reduce, n - 1 for all-gather and reduce-scatter, n for
 * broadcast and reduce.
 */
double NcclRingSteps(CollectiveOp op, double ranks);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_BANDWIDTH_MODEL_H
