// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H
#define WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

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
 * and NICs reached without passing the CPU, before compute capability 90 also without PXN. From
 * compute capability 90 on the path may also pass the CPU that is attached to the GPU by a
 * chip-to-chip link (2.30.7 tuning.cc: PATH_P2C, NCCL_LL128_C2C). The first release with this is
 * assumed to be 2.27, the first with GPUDirect RDMA over that link by default.
 */
bool AllowsLl128(const NcclConstants& constants,
                 const Communicator& communicator,
                 Routing& routing,
                 const NodeSpec& node);

/** The channels and threads of a kernel. */
struct KernelWidth
{
    uint32_t channels{1};
    uint32_t threads{512}; //!< of each channel's block
};

/**
 * Channels and threads for a call of @p bytes (enqueue.cc): from @p max channels down one by one
 * while a thread would have fewer bytes than the protocol's threshold, then fewer threads; rings,
 * trees and PAT also with a minimum of traffic per channel (NcclTable::ChannelTraffic). NVLS keeps
 * all its channels.
 */
KernelWidth NcclKernelWidth(const NcclCase& c, Bytes bytes, uint32_t max);

/** How a call will run. */
struct NcclChoice
{
    const CollectiveAlgorithm* algorithm{nullptr};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
};

/** The estimate of NCCL's cost model for one algorithm and protocol. */
struct NcclEstimate
{
    const CollectiveAlgorithm* algorithm{nullptr};
    Protocol protocol{Protocol::Simple};
    Time time; //!< infinite: NCCL disables the pair for this group
};

/**
 * NCCL's estimates for every algorithm of @p candidates with each of its protocols, or with the
 * protocol that the call asks for; in the order of @p candidates, LL before LL128 before Simple. @p
 * filter limits what the call leaves open.
 */
std::vector<NcclEstimate> NcclEstimates(const NcclConstants& constants,
                                        const Communicator& communicator,
                                        const CollectiveCall& call,
                                        const std::vector<const CollectiveAlgorithm*>& candidates,
                                        const NcclFilter& filter);

/**
 * The pair with the smallest estimate of NcclEstimates for @p call, the first at a tie. Where NCCL
 * disables all pairs that the call allows, it is the first pair that exists, as when NCCL_ALGO and
 * NCCL_PROTO force it. Channels stay 1: the algorithm sets them next.
 *
 * @throws std::invalid_argument when there is no estimate: no candidate has the protocol that the
 *         call asks for, or the filter allows none.
 */
NcclChoice ChooseAsNccl(const std::vector<NcclEstimate>& estimates, const CollectiveCall& call);

/** @p call with its open fields filled in from the first rule that fits it, if any. */
CollectiveCall WithTunerRule(const CollectiveCall& call,
                             const std::vector<TunerRule>& rules,
                             const Communicator& communicator);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_TUNING_H
