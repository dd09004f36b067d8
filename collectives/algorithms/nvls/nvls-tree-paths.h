// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_PATHS_H
#define WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_PATHS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/double-binary-tree.h"
#include "collectives/channels/nvls-graph.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The trees between nodes on some equal channels of NVLSTree: one for each head. */
struct NvlsTreePaths
{
    /** A head's place in its tree. */
    struct Place
    {
        BinaryTreePlace nodes; //!< neighbors, by number in NvlsNodes' order
        Connection toParent;   //!< meaningless at the root
        Connection fromParent; //!< as above
    };

    std::vector<uint32_t> channels;         //!< those that are alike
    std::vector<std::vector<Place>> places; //!< by head, node
};

/**
 * The trees on the channels of a call: even channels take tree 0 of the double tree over the nodes,
 * odd ones tree 1; head h of a node talks to head h of its neighbors, each over its own NIC.
 * Channels over the same links are one entry. O(channels x heads x nodes).
 * @throws std::runtime_error when two nodes are not joined.
 */
std::vector<NvlsTreePaths> FindNvlsTreePaths(const AlgorithmInputs& inputs,
                                             const std::vector<NvlsNode>& nodes);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_NVLS_TREE_PATHS_H
