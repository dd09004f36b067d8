// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/double-binary-tree.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** Neighbors in tree 0. */
BinaryTreeNode
NeighborsInTree(uint32_t nodes, uint32_t node)
{
    BinaryTreeNode neighbors;
    uint32_t bit = 1;
    while (bit < nodes && (node & bit) == 0)
    {
        bit <<= 1;
    }
    const uint32_t half = bit >> 1;
    if (node == 0)
    {
        neighbors.children[1] = nodes > 1 ? half : BinaryTreeNode::NONE;
        return neighbors;
    }
    const uint32_t without = node ^ bit;
    neighbors.parent = (without | bit << 1) < nodes ? without | bit << 1 : without;
    neighbors.side = node < neighbors.parent ? 0 : 1;
    if (half == 0)
    {
        return neighbors;
    }
    neighbors.children[0] = node - half;
    for (uint32_t step = half; step > 0; step >>= 1)
    {
        if (node + step < nodes)
        {
            neighbors.children[1] = node + step;
            break;
        }
    }
    return neighbors;
}

} // namespace

BinaryTreeNode
NeighborsInDoubleTree(uint32_t nodes, uint32_t node, uint32_t tree)
{
    if (node >= nodes || tree > 1)
    {
        throw std::invalid_argument("node " + std::to_string(node) + " of tree " +
                                    std::to_string(tree) + ", expected one of " +
                                    std::to_string(nodes) + " nodes of two trees");
    }
    if (tree == 0)
    {
        return NeighborsInTree(nodes, node);
    }
    const bool mirror = nodes % 2 == 0;
    const auto there = [&](uint32_t r) { return mirror ? nodes - 1 - r : (r + nodes - 1) % nodes; };
    const auto back = [&](uint32_t r) {
        return r == BinaryTreeNode::NONE ? r : mirror ? nodes - 1 - r : (r + 1) % nodes;
    };
    BinaryTreeNode neighbors = NeighborsInTree(nodes, there(node));
    neighbors.parent = back(neighbors.parent);
    for (auto& child : neighbors.children)
    {
        child = back(child);
    }
    return neighbors;
}

uint32_t
DoubleTreeDepth(uint32_t nodes)
{
    uint32_t deepest = 0; // tree 1 is tree 0 with renumbered nodes
    for (uint32_t node = 0; node < nodes; ++node)
    {
        uint32_t depth = 0;
        for (uint32_t at = node; at != 0; at = NeighborsInTree(nodes, at).parent)
        {
            ++depth;
        }
        deepest = std::max(deepest, depth);
    }
    return deepest;
}

} // namespace weir
