// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_TREE_SEARCH_H
#define WEIR_COLLECTIVES_CHANNELS_TREE_SEARCH_H

#include "collectives/channels/node-capacity.h"
#include "collectives/channels/ring-search.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** One channel's chain inside a node. GPUs are indices into NodeCapacity::LocalGpus. */
struct NodeChain
{
    std::vector<uint32_t> order;    //!< each GPU once; the first one is connected to the parent
    uint32_t nic{NodeRing::NO_NIC}; //!< for all neighbors in other nodes; NO_NIC inside one node
    bool secondIsNear{false};       //!< whether order[1] is as near to the NIC as order[0]
};

/** The chains found for one node of a communicator, one per channel of its ring graph. */
struct TreeGraph
{
    std::vector<NodeChain> chains;
    TreePattern pattern{TreePattern::Balanced};
    double intra{0}; //!< GB/s per channel inside the node
    double inter{0}; //!< GB/s per channel to the network
};

/**
 * Finds as NCCL does (src/graph/search.cc) the parts of trees that one node carries, with as many
 * channels as its rings. The chain of a channel follows its ring forwards, or backwards from the
 * same first GPU where that makes a GPU near the NIC the second one. The NIC is the ring's first
 * one.
 *
 * The pattern is Balanced if all second GPUs are near their NICs. Otherwise it is Plain from
 * compute capability 90 on ("a simpler tree") and for a single GPU, and Balanced over a longer path
 * before. NCCL before 2.8 had Split instead of Balanced.
 *
 * The speed is the fastest of NCCL's list at which all channels fit at once; a balanced one sends
 * half of it from each of the first two GPUs. Then the intra-node speed is raised as long as it
 * fits and is below twice the inter-node speed. Where no speed fits, 0.1 GB/s as in NCCL.
 */
TreeGraph SearchTrees(NodeCapacity& node,
                      const RingGraph& rings,
                      const NcclConstants& constants,
                      bool interNode);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_TREE_SEARCH_H
