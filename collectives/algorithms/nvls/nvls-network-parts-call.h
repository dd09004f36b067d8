// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_NETWORK_PARTS_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_NETWORK_PARTS_CALL_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/nvls/nvls-nodes-call.h"
#include "collectives/channels/collnet-network.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What streams and schedule of an NVLS all-gather or reduce-scatter over several nodes both need to
 * know. Every GPU is a head, and a head has the parts of the GPUs of its number in all nodes.
 */
struct NvlsNetworkPartsCall
{
    explicit NvlsNetworkPartsCall(const AlgorithmInputs& inputs);

    uint32_t Nodes() const
    {
        return static_cast<uint32_t>(inside.nodes.size());
    }

    bool gathers; //!< or it scatters
    NvlsNodesCall inside;
    Bytes chunk; //!< of one rank's part: a head's chunk is one of each node
    std::vector<std::vector<CollNetPath>> networks; //!< by head, then node: its rank's part
};

/** The call as primitives. */
Schedule BuildNvlsNetworkPartsSchedule(const AlgorithmInputs& inputs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_NETWORK_PARTS_CALL_H
