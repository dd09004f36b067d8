// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_NCCL_CHANNELS_H
#define WEIR_COLLECTIVES_NCCL_NCCL_CHANNELS_H

#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"
#include "fabric/units.h"

#include <cstdint>

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

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_NCCL_CHANNELS_H
