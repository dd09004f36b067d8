// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_RING_SEARCH_H
#define WEIR_COLLECTIVES_CHANNELS_RING_SEARCH_H

#include "collectives/channels/node-capacity.h"
#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"

#include <cstdint>
#include <vector>

namespace weir
{

constexpr double SIMPLE_ORDER_SPEED = 0.1; //!< GB/s where no speed fits (ncclTopoCompute)

/** One channel's path through one node. GPUs are indices into those of NodeCapacity. */
struct NodeRing
{
    static constexpr uint32_t NO_NIC = 0xffffffff;

    std::vector<uint32_t> order; //!< each GPU once; the first one receives from the network
    uint32_t inNic{NO_NIC};      //!< by number in the node; NO_NIC inside one node
    uint32_t outNic{NO_NIC};
    uint32_t outGpu{0}; //!< the GPU that sends to outNic: the last one, or by PXN another
};

/** The channels found for one node of a communicator. */
struct RingGraph
{
    std::vector<NodeRing> rings;        //!< by channel of the search
    double speed{0};                    //!< GB/s per channel
    bool alternating{false};            //!< crossNic 2: channels 2j and 2j + 1 swap NICs
    NicReach reach{NicReach::Switches}; //!< of the NICs that the search allowed
};

/**
 * Finds as NCCL does (src/graph/search.cc) the number and the speed of the channels of one node.
 * For each speed of NCCL's list, from the fastest that the best path and the GPUs' total bandwidth
 * allow, the search packs channels until a link is full, over NVLink only where that gives any. The
 * best result has the largest channels x speed, then the fewest hops. The search stops when the
 * GPUs' bandwidth is reached or the next speed is below 0.49 of the best.
 *
 * Between nodes a channel enters by NIC a at a GPU near it and leaves by NIC b from a GPU near it:
 * first with b = a (by PXN where no second GPU is near), then in pairs from a to b and from b to a;
 * @p rules may allow only the former, or any b. NICs behind the host or another socket are used
 * only where nearer ones carry no channel of this or a faster speed. Orders inside a node are tried
 * depth first in ring order, within a budget as in NCCL.
 *
 * Then NCCL's first duplication: a speed of at least 25 GB/s doubles the channels at half the
 * speed, except for more than 4 channels below 50 GB/s past compute capability 80.
 *
 * Where no speed of the list fits, for example over a few lanes of an old PCIe, one channel visits
 * the GPUs in the order of their numbers, by the first NIC, at the 0.1 GB/s that NCCL then assumes.
 *
 * The result has no rings if @p interNode and the node has no NIC, or if a GPU cannot be connected.
 */
RingGraph SearchRings(NodeCapacity& node,
                      const NcclConstants& constants,
                      bool interNode,
                      const NicRules& rules = {});

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_RING_SEARCH_H
