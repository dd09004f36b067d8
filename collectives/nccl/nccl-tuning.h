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

/** One algorithm under one protocol for an operation of a group, as NCCL's model judges it. */
struct NcclCase
{
    const NcclConstants& constants;
    const Communicator& communicator;
    Algorithm algorithm;
    CollectiveOp op;
    Protocol protocol;
};

/**
 * NCCL's model of the bandwidth of an algorithm under a protocol, in GB/s of the call's size
 * (src/graph/tuning.cc, ncclTopoTuneModel, before the correction for size). 0 where NCCL disables
 * the pair: no such graph, an operation that the algorithm does not have, LL128 where it is not
 * allowed.
 */
double NcclAlgorithmBandwidth(const NcclCase& c);

/**
 * NCCL's latency of a call of zero bytes (src/graph/tuning.cc, ncclTopoTuneModel): the base latency
 * plus the algorithm's steps inside a node and between nodes.
 */
Time NcclLatency(const NcclCase& c);

/**
 * NCCL's own estimate of a call's time, not Weir's, by which it chooses algorithm and protocol
 * (src/graph/tuning.cc, ncclTopoGetAlgoTime): latency + bytes / bandwidth, both corrected for size.
 * Infinite where NCCL disables the pair for this group.
 */
Time NcclTime(const NcclCase& c, Bytes bytes);

/**
 * Whether NCCL enables LL128: compute capability of at least 70, NVLink between the GPUs of a node,
 * and NICs reached without passing the CPU. From compute capability 90 on the path may also pass
 * the CPU that is attached to the GPU by a chip-to-chip link (2.30.7 tuning.cc: PATH_P2C,
 * NCCL_LL128_C2C). The first release with this is assumed to be 2.27, the first with GPUDirect RDMA
 * over that link by default.
 */
bool AllowsLl128(const NcclConstants& constants,
                 const Communicator& communicator,
                 Routing& routing,
                 const NodeSpec& node);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H
