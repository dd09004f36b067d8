// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_COLLNET_NETWORK_H
#define WEIR_COLLECTIVES_ALGORITHMS_COLLNET_NETWORK_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/nvls-graph.h"
#include "collectives/schedule/schedule-wiring.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/** The tree of switches that reduces for some NICs (SHARP's aggregation tree). */
struct SwitchTree
{
    DeviceId root;
    std::vector<LinkId> links;              //!< towards the root and away from it, each link once
    std::vector<std::vector<LinkId>> paths; //!< by NIC: links towards the root
    Time latency;                           //!< of the longest path from a NIC to the root and back
};

/** Whether a link may be used. */
using LinkFilter = std::function<bool(LinkId)>;

/**
 * The tree that SHARP's manager would choose. Its root is a switch with the smallest distance to
 * the farthest of @p nics, and among these with the smallest sum of distances. A shortest path over
 * links that are usable connects every NIC to the root; where paths merge, sums are forwarded. @p
 * choice enumerates all combinations of equal roots and of equal links on shortest paths to a
 * device (cyclically, by id, roots first), so that trees of several rails or channels spread.
 * O(NICs x links).
 * @throws std::runtime_error when no switch reaches all of them.
 */
SwitchTree FindSwitchTree(
    const Topology& topology,
    const std::vector<DeviceId>& nics,
    uint32_t choice,
    const LinkFilter& isUsable = [](LinkId) { return true; });

/** A GPU that exchanges data with the reducing network, and its port. */
struct CollNetHead
{
    uint32_t rank{0}; //!< group rank
    uint32_t nic{0};  //!< by number in its node
};

/** The GPUs that are head @p head of their nodes, and their ports. */
std::vector<CollNetHead> HeadsAt(const std::vector<NvlsNode>& nodes, uint32_t head);

/** The port by which a hop between nodes leaves a node, or enters one. */
uint32_t CollNetPort(const AlgorithmInputs& inputs, const Connection& hop, bool leaves);

/**
 * A reduction in the network as a connection. Each head's data go to its NIC and up the tree of
 * switches, sums are forwarded, and the total comes down to all heads. Every link of the tree
 * carries each byte once in each direction, at the rate of the slowest link.
 */
struct CollNetPath
{
    RouteId route;
    Time latency; //!< NCCL's for the network, with the propagation part replaced by that of this
                  //!< tree
};

/**
 * @param heads one in each node
 * @param choice among equal roots, see FindSwitchTree
 * @throws std::runtime_error when no switch reaches all of them.
 */
CollNetPath FindCollNetPath(const AlgorithmInputs& inputs,
                            Algorithm algorithm,
                            const std::vector<CollNetHead>& heads,
                            uint32_t choice);

/**
 * The paths of the parts of an all-gather or a reduce-scatter, by head. A head's part of an
 * all-gather goes up to the root and from there down to all heads, including itself. The part of a
 * reduce-scatter comes up from all heads, sums are forwarded, and the total goes down to its head.
 * Parameters and errors as for FindCollNetPath.
 */
std::vector<CollNetPath> FindCollNetPartPaths(const AlgorithmInputs& inputs,
                                              Algorithm algorithm,
                                              const std::vector<CollNetHead>& heads,
                                              uint32_t choice);

/** The number of heads that send data to the network, and of those that receive the sum. */
struct CollNetEnds
{
    uint32_t givers{1};
    uint32_t takers{1};
};

/** A path with its parameters for ScheduleConnection. */
struct CollNetPipe
{
    CollNetPath path;
    Rate cap;
    double weight{1};
};

/**
 * Adds the switches for chunk @p chunk of every pass: a block that sums the data of all senders,
 * the connection, and a block that sends the total to all receivers. The first one is
 * up, the second one down.
 */
BlockPair AddCollNet(ScheduleWiring& wiring,
                     const AlgorithmInputs& inputs,
                     uint32_t chunk,
                     CollNetEnds ends,
                     const CollNetPipe& pipe);

/**
 * The part of a head's @p chunk for each of @p nodes nodes, in multiples of the chunk alignment.
 */
Bytes PartOf(Bytes chunk, uint32_t nodes);

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

#endif // WEIR_COLLECTIVES_ALGORITHMS_COLLNET_NETWORK_H
