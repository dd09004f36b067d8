// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/flow-hash.h"

#include "fabric/routing/router.h"

namespace weir
{

uint64_t
HashFlow(const FlowTuple& tuple, uint32_t device, uint64_t seed)
{
    const uint64_t salt = SplitMix64(SplitMix64(seed) ^ device);
    const uint64_t addresses = uint64_t{tuple.source} << 32 | tuple.destination;
    const uint64_t ports = uint64_t{tuple.sourcePort} << 16 | tuple.queuePair;
    return SplitMix64(SplitMix64(salt ^ addresses) ^ ports);
}

} // namespace weir
