// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/tree-graph.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

constexpr uint32_t BALANCED_SINCE = 8; //!< 2.8: BALANCED_TREE replaced SPLIT_TREE
constexpr uint32_t SIMPLER_TREE_CC = 90;

bool
IsNear(NodeCapacity& node, uint32_t gpu, uint32_t nic)
{
    const auto near = node.GpusNear(nic);
    return std::find(near.begin(), near.end(), gpu) != near.end();
}

/**
 * Whether the ring can be walked backwards from its first GPU, over a last hop that is no longer
 * than its first hop.
 */
bool
Closes(const NodeCapacity& node, const std::vector<uint32_t>& order)
{
    const auto& first = node.BetweenGpus(order[0], order[1]);
    const auto& last = node.BetweenGpus(order[0], order.back());
    return node.IsNvLink(order[0], order.back()) == node.IsNvLink(order[0], order[1]) &&
           last.size() <= first.size();
}

NodeChain
ChainOf(NodeCapacity& node, const NodeRing& ring, const NicRules& rules)
{
    NodeChain chain{ring.order, ring.inNic, true};
    if (ring.inNic == NodeRing::NO_NIC || ring.order.size() < 2)
    {
        return chain;
    }
    chain.secondIsNear = IsNear(node, ring.order[1], ring.inNic);
    if (!chain.secondIsNear && Closes(node, ring.order) &&
        IsNear(node, ring.order.back(), ring.inNic))
    {
        std::reverse(chain.order.begin() + 1, chain.order.end());
        chain.secondIsNear = true;
    }
    chain.relays = !chain.secondIsNear && rules.pxn &&
                   node.ReachOf(chain.order.front(), chain.nic) <= *rules.pxn;
    return chain;
}

TreePattern
PatternOf(const TreeGraph& graph, const NcclConstants& constants)
{
    bool allNear = true;
    for (const auto& chain : graph.chains)
    {
        allNear = allNear && chain.secondIsNear;
    }
    const bool single = graph.chains.front().order.size() == 1;
    if (single || (!allNear && constants.ComputeCapability() >= SIMPLER_TREE_CC))
    {
        return TreePattern::Plain;
    }
    return constants.Version().AtLeast(BALANCED_SINCE) ? TreePattern::Balanced : TreePattern::Split;
}

/** Reserves a path to the network from one GPU of a chain, through its first GPU if that relays. */
bool
ReserveOut(NodeCapacity& node, const NodeChain& chain, std::size_t index, double speed)
{
    const bool proxy =
        index > 0 && chain.relays && node.IsNvLink(chain.order[index], chain.order[0]);
    return (!proxy || node.Reserve(node.BetweenGpus(chain.order[index], chain.order[0]), speed)) &&
           node.Reserve(node.ToNetwork(chain.order[proxy ? 0 : index], chain.nic), speed);
}

/** Whether all channels fit at these speeds, in GB/s per channel. */
bool
Fits(NodeCapacity& node, const TreeGraph& graph, double intra, double inter)
{
    node.Reset();
    for (const auto& chain : graph.chains)
    {
        if (chain.nic != NodeRing::NO_NIC)
        {
            const bool both = graph.pattern == TreePattern::Balanced;
            const std::size_t only = graph.pattern == TreePattern::Split ? 1 : 0;
            if (!node.Reserve(node.FromNetwork(chain.nic, chain.order[0]), inter) ||
                (both && !ReserveOut(node, chain, 0, inter / 2)) ||
                !ReserveOut(node, chain, both ? 1 : only, both ? inter / 2 : inter))
            {
                return false;
            }
        }
        for (std::size_t i = 0; i + 1 < chain.order.size(); ++i)
        {
            if (!node.Reserve(node.BetweenGpus(chain.order[i], chain.order[i + 1]), intra))
            {
                return false;
            }
        }
    }
    return true;
}

} // namespace

TreeGraph
SearchTrees(NodeCapacity& node,
            const RingGraph& rings,
            const NcclConstants& constants,
            bool interNode,
            const NicRules& rules)
{
    TreeGraph graph;
    for (const auto& ring : rings.rings)
    {
        graph.chains.push_back(ChainOf(node, ring, rules));
    }
    if (graph.chains.empty())
    {
        return graph;
    }
    graph.pattern = PatternOf(graph, constants);
    const auto& speeds = constants.SearchSpeeds(interNode);
    std::size_t found = 0;
    while (found < speeds.size() && !Fits(node, graph, speeds[found], speeds[found]))
    {
        ++found;
    }
    graph.intra = graph.inter = found < speeds.size() ? speeds[found] : SIMPLE_ORDER_SPEED;
    while (interNode && found > 0 && found < speeds.size() && graph.intra < 2 * graph.inter &&
           Fits(node, graph, speeds[found - 1], graph.inter))
    {
        graph.intra = speeds[--found];
    }
    node.Reset();
    return graph;
}

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
