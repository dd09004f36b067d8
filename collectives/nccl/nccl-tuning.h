// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H
#define WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

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

/**
 * NCCL's latency of a call of no size (src/graph/tuning.cc, ncclTopoTuneModel): the base plus what
 * the algorithm's steps cost inside a node and between nodes.
 */
Time NcclLatency(const NcclConstants& constants,
                 const Communicator& communicator,
                 Algorithm algorithm,
                 CollectiveOp op,
                 Protocol protocol);

/**
 * NCCL's own estimate of a call's time, not Weir's, by which it chooses algorithm and protocol
 * (src/graph/tuning.cc, ncclTopoGetAlgoTime): latency + bytes / bandwidth, both corrected for the
 * size; infinite where it switches the pair off for this group.
 */
Time NcclTime(const NcclConstants& constants,
              const Communicator& communicator,
              Algorithm algorithm,
              CollectiveOp op,
              Protocol protocol,
              Bytes bytes);

/**
 * What NCCL multiplies a tree's bandwidth by at @p bytes (treeCorrectionFactor): indexed by
 * floor(log2(bytes / 64)), 1 below 64 bytes and from 2^23 x 64 bytes on.
 */
double TreeSizeCorrection(const NcclVersion& version, Protocol protocol, Bytes bytes);

/**
 * Whether NCCL enables LL128: compute capability 70, NVLink between the GPUs of a node, and NICs
 * reached without passing the CPU; from compute capability 90 on also through the CPU to which the
 * GPU is joined by a chip-to-chip link (2.30.7 tuning.cc: PATH_P2C, NCCL_LL128_C2C; which release
 * began with it is taken to be 2.27, the first with GPUDirect RDMA over that link by default).
 */
bool AllowsLl128(const NcclConstants& constants,
                 const Communicator& communicator,
                 Routing& routing,
                 const NodeSpec& node);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H
