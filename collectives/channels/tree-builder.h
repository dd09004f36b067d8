// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_TREE_BUILDER_H
#define WEIR_COLLECTIVES_CHANNELS_TREE_BUILDER_H

#include "collectives/channels/connection.h"
#include "collectives/channels/node-part.h"
#include "collectives/channels/tree-search.h"
#include "collectives/communicator.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Joins the chains of a communicator's nodes to NCCL's trees (src/graph/connect.cc): between nodes
 * as PlaceInDoubleTree says, tree 0 on the first of every two rounds of the search's channels and
 * tree 1 on the second. A node meets its parent on the first GPU of its chain; where it meets its
 * children, the pattern says.
 */
class TreeBuilder
{
  public:
    /** All must outlive it; graphs[k] is node k's. All nodes have at least @p found chains. */
    TreeBuilder(Connector& connector,
                const std::vector<NodePart>& parts,
                std::vector<const TreeGraph*> graphs,
                uint32_t found);

    /** The pattern that all nodes can follow. */
    TreePattern Pattern() const
    {
        return m_pattern;
    }

    /** The search's channels at the speed that all nodes have. */
    GraphSpeed Speed() const;

    /** Tree of one channel of the communicator; @p queuePair for its network connections. */
    TreeChannel Build(uint32_t channel, uint32_t queuePair) const;

  private:
    /** One end of a connection between nodes. */
    struct End
    {
        std::size_t part;
        std::size_t place; //!< in the chain
    };

    const NodeChain& ChainOf(std::size_t part, uint32_t channel) const;
    GpuId GpuAt(const End& end, uint32_t channel) const;
    uint32_t RankAt(const End& end, uint32_t channel) const;
    End ChildEnd(std::size_t part, uint32_t side, uint32_t channel) const;
    Connection Between(const End& from, const End& to, uint32_t channel, uint32_t queuePair) const;
    void AddChain(TreeChannel& tree, std::size_t part, uint32_t channel) const;

    Connector& m_connector;
    const std::vector<NodePart>& m_parts;
    std::vector<const TreeGraph*> m_graphs; //!< by part
    uint32_t m_found;
    TreePattern m_pattern{TreePattern::Balanced};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_TREE_BUILDER_H
