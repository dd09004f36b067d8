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
 * Every GPU is a head: head h is the h-th GPU of each node, and has the parts of the ranks of its
 * number in all nodes. To gather, each head gives the network its own part and takes all parts of
 * its number, which go on to the GPUs of its node; a reduce-scatter is the same, backwards. What is
 * said here from the network to the ranks holds for either.
 *
 * In a pass the parts lie by node, then head; every block takes those of its own node first, so
 * that blocks of all nodes have the same programs.
 */
class PartsWiring
{
  public:
    /**
     * Adds the network's switches. @param paths by head, then node: its rank's part.
     * @param cap of a head's parts of all nodes. References must outlive it.
     */
    PartsWiring(const AlgorithmInputs& inputs,
                const std::vector<NvlsNode>& nodes,
                const std::vector<std::vector<CollNetPath>>& paths,
                Rate cap,
                ChannelSchedule& channel);

    /**
     * Adds a head's group for its own part, and the block that has all parts of its number, of rank
     * @p rank (a switch's if it is none), with @p ends ends towards the node's GPUs. @return the
     * latter.
     */
    uint32_t AddHead(uint32_t node, uint32_t head, uint32_t rank, uint32_t ends);

    /** Adds a switch behind the block of a head, with so many ends. @return it. */
    uint32_t AddBehind(uint32_t node,
                       uint32_t head,
                       uint32_t block,
                       uint32_t ends,
                       const ScheduleConnection& pipe);

    /**
     * Adds the group of a GPU for the parts of @p heads, in their order, over @p pipes to their
     * @p blocks; a slot of these holds a head's chunk, one of each node.
     */
    void AddMember(uint32_t node,
                   uint32_t member,
                   const std::vector<uint32_t>& heads,
                   const std::vector<uint32_t>& blocks,
                   const std::vector<ScheduleConnection>& pipes);

  private:
    /** Of the part of head @p head of node @p node in a pass. */
    uint32_t PlaceOf(uint32_t node, uint32_t head) const
    {
        return node * m_heads + head;
    }

    Program EachPart(uint32_t node, uint32_t head, bool isAtNetwork, uint32_t ends) const;

    /** The part of @p head in the @p i-th node from @p node on, as a block at @p place names it. */
    int32_t PartFrom(uint32_t node, uint32_t i, uint32_t head, uint32_t place) const;
    void Join(uint32_t nearer, uint32_t farther, const ScheduleConnection& pipe);

    const AlgorithmInputs& m_in;
    const std::vector<NvlsNode>& m_nodes;
    uint32_t m_count; //!< of nodes
    uint32_t m_heads;
    bool m_gathers; //!< or it scatters
    ScheduleWiring m_wiring;
    std::vector<CollNetBlocks> m_networks; //!< by place
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_PARTS_H
