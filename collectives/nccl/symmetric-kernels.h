// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_SYMMETRIC_KERNELS_H
#define WEIR_COLLECTIVES_NCCL_SYMMETRIC_KERNELS_H

#include "collectives/collective.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>

namespace weir
{

/** What decides which of NCCL's kernels on symmetric memory a call runs. */
struct SymmetricCase
{
    const NcclConstants& constants;
    CollectiveOp op{CollectiveOp::AllReduce}; //!< all-reduce, all-gather or reduce-scatter
    Bytes bytes;                              //!< of the call, as CollectiveCall::bytes
    uint32_t ranks{2};
    bool hasMulticast{false};           //!< whether the NVSwitches reduce and multicast
    std::optional<Protocol> protocol{}; //!< given: LL or Simple
    std::optional<uint32_t> blocks{};   //!< given: their number
    ChannelLimits limits{};             //!< limits of blocks
};

/** One of NCCL's kernels on symmetric memory, and its width. */
struct SymmetricKernel
{
    Protocol protocol{Protocol::Simple}; //!< LL: data and flags in one store; else loads and stores
                                         //!< between two barriers of all ranks
    bool isMulticast{false}; //!< whether the NVSwitches multicast, and reduce for Simple
    uint32_t blocks{1};
    Time latency;  //!< of a call without bytes
    Time moving;   //!< minimum time in which the blocks move the bytes of the call
    Time estimate; //!< by which NCCL chooses
};

/** The maximum number of blocks (ncclSymMaxBlocks). */
constexpr uint32_t MAX_SYMMETRIC_BLOCKS = 64;

/** The first release with these kernels is 2.27. */
constexpr uint32_t SYMMETRIC_SINCE = 27;

/**
 * NCCL's choice (sym_kernels.cc, ncclSymPickKernel): for each kernel the fewest blocks within 2.5 %
 * of its fastest estimate, then the kernel with the lowest estimate, weighted by 2.5 % per block.
 *
 * A kernel's estimate is its latency plus, from about 1 us on, the time in which its blocks move
 * the larger of the bytes that a GPU sends and receives: at a rate per block and a maximum of all
 * blocks (tables.yaml: symmetricLatency and the tables below it). LL counts as nine times
 * the payload.
 *
 * @throws std::invalid_argument for protocol LL128, which no kernel has, and for LL with 2 GiB or
 *         more, which LL kernels cannot count.
 */
SymmetricKernel ChooseSymmetricKernel(const SymmetricCase& call);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_SYMMETRIC_KERNELS_H
