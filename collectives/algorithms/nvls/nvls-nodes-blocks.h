// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_NODES_BLOCKS_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_NODES_BLOCKS_H

#include "collectives/algorithms/nvls/nvls-nodes-call.h"
#include "collectives/schedule/schedule-wiring.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The blocks that serve one head of one node. */
struct NvlsHeadBlocks
{
    uint32_t sum{0};       //!< takes what the GPUs copied in, to be reduced over the NVSwitch
    uint32_t reducing{0};  //!< takes the sum to the network
    uint32_t storing{0};   //!< takes the total from the network
    uint32_t multicast{0}; //!< where the total is stored in all GPUs
};

/**
 * Adds the switches' blocks, sum and multicast, for a head of a node, and joins them to the groups
 * that are there already, reducing and storing.
 */
void AddNvlsHead(ScheduleWiring& wiring,
                 const AlgorithmInputs& inputs,
                 const NvlsNodesCall& inside,
                 uint32_t head,
                 uint32_t node,
                 NvlsHeadBlocks& blocks);

/** Adds the groups of a node's GPUs that copy to all sums and from all multicasts, by head. */
void AddNvlsCopies(ScheduleWiring& wiring,
                   const AlgorithmInputs& inputs,
                   const NvlsNodesCall& inside,
                   uint32_t node,
                   const std::vector<NvlsHeadBlocks>& heads);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_NODES_BLOCKS_H
