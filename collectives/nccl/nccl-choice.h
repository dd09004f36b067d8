// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_CHOICE_H
#define WEIR_COLLECTIVES_NCCL_NCCL_CHOICE_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** How wide NCCL makes a kernel. */
struct KernelWidth
{
    uint32_t channels{1};
    uint32_t threads{512}; //!< of one channel's block
};

/**
 * Channels and threads for a call of @p bytes (enqueue.cc): from @p most channels down one by one
 * while a thread would have less than the protocol's threshold, then fewer threads; from 2.19 at
 * most one channel per 32 KiB of traffic. NVLS keeps all its channels.
 */
KernelWidth NcclKernelWidth(const NcclConstants& constants,
                            const Communicator& communicator,
                            Algorithm algorithm,
                            CollectiveOp op,
                            Protocol protocol,
                            Bytes bytes,
                            uint32_t most);

/** How a call will run. */
struct NcclChoice
{
    const CollectiveAlgorithm* algorithm{nullptr};
    Protocol protocol{Protocol::Simple};
    uint32_t channels{1};
};

/** What NCCL's cost model says of one way to run a call. */
struct NcclEstimate
{
    const CollectiveAlgorithm* algorithm{nullptr};
    Protocol protocol{Protocol::Simple};
    Time time; //!< infinite: NCCL switches it off for this group
};

/**
 * Every algorithm of @p candidates with every protocol that it has, or the one that the call asks
 * for, with NCCL's estimate; in the table's order, LL before LL128 before Simple. What the call
 * leaves open, @p filter bounds.
 */
std::vector<NcclEstimate> NcclEstimates(const NcclConstants& constants,
                                        const Communicator& communicator,
                                        const CollectiveCall& call,
                                        const std::vector<const CollectiveAlgorithm*>& candidates,
                                        const NcclFilter& filter = {});

/**
 * The pair of least estimate, the earlier one at a tie; where NCCL switches off all that the call
 * leaves, the first pair that exists, as when NCCL_ALGO and NCCL_PROTO force it. Channels are left
 * at 1: how many there are, the algorithm says next.
 *
 * @throws std::invalid_argument when no candidate has the protocol that the call asks for, or
 * @p filter leaves none.
 */
NcclChoice ChooseAsNccl(const NcclConstants& constants,
                        const Communicator& communicator,
                        const CollectiveCall& call,
                        const std::vector<const CollectiveAlgorithm*>& candidates,
                        const NcclFilter& filter = {});

/** @p call with what it leaves open filled in from the first rule that fits it, if there is one. */
CollectiveCall WithTunerRule(const CollectiveCall& call,
                             const std::vector<TunerRule>& rules,
                             const Communicator& communicator);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_CHOICE_H
