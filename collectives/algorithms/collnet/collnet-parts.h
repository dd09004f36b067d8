// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/collnet/collnet-network.h"
#include "collectives/channels/nvls-graph.h"
#include "collectives/schedule/schedule-wiring.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Wires one channel of an all-gather or reduce-scatter through a network that multicasts or sums.
 * Every GPU is a head: head h is the h-th GPU of each node and handles the parts of the h-th ranks
 * of all nodes. In an all-gather each head sends its own part to the network and receives the parts
 * of its number from all nodes, which it forwards to the GPUs of its node. A reduce-scatter is the
 * reverse: the comments here describe the direction from the network to the ranks.
 *
 * In a pass the parts are ordered by node, then head. Every block starts with those of its own
 * node, so that blocks of all nodes have the same programs.
 */
class PartsWiring
{
  public:
    /**
     * Adds the network's switches.
     * @param paths by head, then node: the path of that rank's part
     * @param cap of a head's parts of all nodes
     * References must outlive it.
     */
    PartsWiring(const AlgorithmInputs& inputs,
                const std::vector<NvlsNode>& nodes,
                const std::vector<std::vector<CollNetPath>>& paths,
                Rate cap,
                ChannelSchedule& channel);

    /**
     * Adds a head's block for its own part, and the block for all parts of its number, with @p ends
     * connections to the node's GPUs. The latter belongs to @p rank, which is a switch's if it is
     * not in the group.
     * @return the latter block
     */
    uint32_t AddHead(uint32_t node, uint32_t head, uint32_t rank, uint32_t ends);

    /** Adds a switch behind the block of a head, with @p ends connections. @return its block. */
    uint32_t AddBehind(uint32_t node,
                       uint32_t head,
                       uint32_t block,
                       uint32_t ends,
                       const ScheduleConnection& pipe);

    /**
     * Adds the block of a GPU for the parts of @p heads, in their order, over @p pipes to their @p
     * blocks. A slot of these holds a head's chunk, which has one part of each node.
     */
    void AddMember(uint32_t node,
                   uint32_t member,
                   const std::vector<uint32_t>& heads,
                   const std::vector<uint32_t>& blocks,
                   const std::vector<ScheduleConnection>& pipes);

  private:
    /** Index in a pass of the part of head @p head of node @p node. */
    uint32_t PartIndexOf(uint32_t node, uint32_t head) const
    {
        return node * m_heads + head;
    }

    Program EachPart(uint32_t node, uint32_t head, bool isAtNetwork, uint32_t ends) const;

    /**
     * The part of @p head in the @p i-th node from @p node on, relative to @p position.
     */
    int32_t PartFrom(uint32_t node, uint32_t i, uint32_t head, uint32_t position) const;
    void Join(uint32_t nearer, uint32_t farther, const ScheduleConnection& pipe);

    const AlgorithmInputs& m_in;
    const std::vector<NvlsNode>& m_nodes;
    uint32_t m_count; //!< number of nodes
    uint32_t m_heads;
    bool m_gathers; //!< all-gather; otherwise reduce-scatter
    ScheduleWiring m_wiring;
    std::vector<BlockPair> m_networks; //!< by index of the part
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_H
