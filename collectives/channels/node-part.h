// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_NODE_PART_H
#define WEIR_COLLECTIVES_CHANNELS_NODE_PART_H

#include "fabric/ids.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The ranks of a communicator that live in one node, in the order of their local GPUs. */
struct NodePart
{
    uint32_t node{0};
    std::vector<uint32_t> localGpus; //!< ascending
    std::vector<uint32_t> ranks;     //!< group ranks, by the same index
    std::vector<GpuId> gpus;         //!< as above
    std::vector<GpuId> middles;      //!< those that may stand between two without NVLink (NVB)
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_NODE_PART_H
