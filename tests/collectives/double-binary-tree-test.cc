// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/tree-graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace weir
{
namespace
{

constexpr uint32_t NONE = BinaryTreeNode::NONE;

void
ExpectPlace(uint32_t node, uint32_t parent, uint32_t first, uint32_t second)
{
    const auto neighbors = NeighborsInDoubleTree(8, node, 0);
    EXPECT_EQ(neighbors.parent, parent) << node;
    EXPECT_EQ(neighbors.children[0], first) << node;
    EXPECT_EQ(neighbors.children[1], second) << node;
}

// By NCCL's rule: node 4 has bit 4 set, so its parent is 0 (8 does not exist); 2 and 6 have bit 2
// and parent 4; an odd node's parent has bit 2 set instead of bit 1.
TEST(DoubleBinaryTree, EightNodesByHand)
{
    ExpectPlace(0, NONE, NONE, 4);
    ExpectPlace(4, 0, 2, 6);
    ExpectPlace(2, 4, 1, 3);
    ExpectPlace(6, 4, 5, 7);
    ExpectPlace(1, 2, NONE, NONE);
    ExpectPlace(3, 2, NONE, NONE);
    ExpectPlace(5, 6, NONE, NONE);
    ExpectPlace(7, 6, NONE, NONE);
}

// With six nodes 6 and 7 are missing: the second child of 4 is 5, at half the distance.
TEST(DoubleBinaryTree, MissingNodesAreSteppedOver)
{
    const auto four = NeighborsInDoubleTree(6, 4, 0);
    EXPECT_EQ(four.children[0], 2U);
    EXPECT_EQ(four.children[1], 5U);
    EXPECT_EQ(NeighborsInDoubleTree(6, 5, 0).parent, 4U);
}

TEST(DoubleBinaryTree, ParentsAndChildrenAgreeAndLeadToOneRoot)
{
    for (uint32_t nodes = 1; nodes <= 130; ++nodes)
    {
        for (uint32_t tree : {0U, 1U})
        {
            uint32_t roots = 0;
            for (uint32_t node = 0; node < nodes; ++node)
            {
                const auto neighbors = NeighborsInDoubleTree(nodes, node, tree);
                for (uint32_t side : {0U, 1U})
                {
                    if (neighbors.children[side] == NONE)
                    {
                        continue;
                    }
                    const auto child = NeighborsInDoubleTree(nodes, neighbors.children[side], tree);
                    EXPECT_EQ(child.parent, node);
                    EXPECT_EQ(child.side, side);
                }
                uint32_t at = node;
                for (uint32_t steps = 0; NeighborsInDoubleTree(nodes, at, tree).parent != NONE;
                     ++steps)
                {
                    ASSERT_LT(steps, nodes);
                    at = NeighborsInDoubleTree(nodes, at, tree).parent;
                }
                roots += at == node;
            }
            EXPECT_EQ(roots, 1U) << nodes;
        }
        const auto log = nodes == 1 ? 0 : std::ceil(std::log2(nodes));
        EXPECT_EQ(DoubleTreeDepth(nodes), log) << nodes;
    }
}

bool
IsLeaf(const BinaryTreeNode& neighbors)
{
    return neighbors.children[0] == NONE && neighbors.children[1] == NONE;
}

// For an even number of nodes, the mirrored tree exchanges odd and even nodes, so no node is inner
// in both trees. For an odd number, the shift by one leaves one node that is inner in both.
TEST(DoubleBinaryTree, InnerNodesOfOneTreeAreLeavesOfTheOther)
{
    for (uint32_t nodes = 2; nodes <= 65; ++nodes)
    {
        uint32_t insideBoth = 0;
        for (uint32_t node = 0; node < nodes; ++node)
        {
            insideBoth += !IsLeaf(NeighborsInDoubleTree(nodes, node, 0)) &&
                          !IsLeaf(NeighborsInDoubleTree(nodes, node, 1));
        }
        EXPECT_EQ(insideBoth, nodes % 2) << nodes;
    }
}

TEST(DoubleBinaryTree, RefusesWhatIsNotThere)
{
    EXPECT_THROW(NeighborsInDoubleTree(4, 4, 0), std::invalid_argument);
    EXPECT_THROW(NeighborsInDoubleTree(4, 0, 2), std::invalid_argument);
}

} // namespace
} // namespace weir
