// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_TREE_GRAPH_H
#define WEIR_COLLECTIVES_CHANNELS_TREE_GRAPH_H

#include "collectives/channels/node-capacity.h"
#include "collectives/channels/ring-search.h"
#include "collectives/communicator.h"
#include "collectives/nccl/nccl-constants.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/** One channel's chain inside a node. GPUs are indices into those of NodeCapacity. */
struct NodeChain
{
    std::vector<uint32_t> order;    //!< each GPU once; the first one is connected to the parent
    uint32_t nic{NodeRing::NO_NIC}; //!< for all neighbors in other nodes; NO_NIC inside one node
    bool secondIsNear{false};       //!< whether order[1] is as near to the NIC as order[0]
    bool relays{false}; //!< whether order[0] sends for GPUs that reach it by NVLink (PXN)
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
 * one. A second GPU that is farther sends through the first one where @p rules allow that.
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
                      bool interNode,
                      const NicRules& rules = {});

/** One node's neighbors in a binary tree over nodes 0 to N - 1. */
struct BinaryTreeNode
{
    static constexpr uint32_t NONE = 0xffffffff;

    uint32_t parent{NONE};                        //!< NONE at the root
    std::array<uint32_t, 2> children{NONE, NONE}; //!< either may be NONE
    uint32_t side{0}; //!< index of this node among its parent's children
};

/**
 * NCCL's two trees (src/graph/trees.cc). Tree 0 has root 0. The parent of node r > 0 with lowest
 * set bit b is r - b with bit 2b set, or r - b where that is no node. Its children are r - b/2 and
 * r + b/2, the latter with b halved until it is a node. Leaves are the odd nodes and the depth is
 * ceil(log2 N). Tree 1 is tree 0 of the mirrored nodes N - 1 - r for even N, and of the nodes
 * shifted by one, r - 1 mod N, for odd N: an inner node of one tree is a leaf of the other, except
 * for one node for odd N. O(log N).
 *
 * @param tree 0 or 1
 * @throws std::invalid_argument when @p tree or @p node is out of range.
 */
BinaryTreeNode NeighborsInDoubleTree(uint32_t nodes, uint32_t node, uint32_t tree);

/** Number of edges from the deepest node of either tree to its root; 0 for one node. O(N log N). */
uint32_t DoubleTreeDepth(uint32_t nodes);

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_TREE_GRAPH_H
