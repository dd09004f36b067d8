// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_DOUBLE_BINARY_TREE_H
#define WEIR_COLLECTIVES_CHANNELS_DOUBLE_BINARY_TREE_H

#include <array>
#include <cstdint>

namespace weir
{

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

#endif // WEIR_COLLECTIVES_CHANNELS_DOUBLE_BINARY_TREE_H
