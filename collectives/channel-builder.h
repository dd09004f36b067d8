// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNEL_BUILDER_H
#define WEIR_COLLECTIVES_CHANNEL_BUILDER_H

#include "collectives/communicator.h"
#include "collectives/connection.h"
#include "collectives/nccl-constants.h"
#include "collectives/ring-search.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace weir
{

/**
 * Gives communicators their channels: searches each node once per set of local GPUs (nodes are
 * wired alike), takes what all nodes of the group can carry, joins the nodes' rings in node order,
 * and duplicates as NCCL does when it connects (src/graph/connect.cc, init.cc).
 */
class ChannelBuilder
{
  public:
    /** All references must outlive it. */
    ChannelBuilder(const Cluster& cluster,
                   Router& router,
                   Connector& connector,
                   const NcclConstants& constants);

    /**
     * Sets channels, searchChannels and searchBandwidth of @p communicator. A group of one GPU gets
     * one channel without hops. @p queuePairSeed makes its network flows differ from other groups'.
     * @throws std::runtime_error when two of its nodes are not joined.
     */
    void Build(Communicator& communicator, uint32_t queuePairSeed);

  private:
    struct NodePart;
    std::vector<NodePart> SplitByNode(const Communicator& communicator) const;
    const RingGraph& GraphOf(const NodePart& part, bool interNode);
    uint32_t FinalChannels(uint32_t found, double speed, bool interNode) const;
    RingChannel JoinNodes(const std::vector<NodePart>& parts,
                          const std::vector<const RingGraph*>& graphs,
                          uint32_t searchChannel,
                          uint32_t queuePair) const;

    const Cluster& m_cluster;
    Router& m_router;
    Connector& m_connector;
    const NcclConstants& m_constants;
    std::map<std::pair<bool, std::vector<uint32_t>>, std::unique_ptr<RingGraph>>
        m_graphs; //!< by interNode, local GPUs
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNEL_BUILDER_H
