// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/channel-builder.h"

#include "collectives/channels/collnet-network.h"
#include "collectives/channels/nvls-graph.h"
#include "collectives/channels/tree-builder.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace weir
{

ChannelBuilder::ChannelBuilder(const Cluster& cluster,
                               Router& router,
                               Connector& connector,
                               const NcclConstants& constants,
                               ChannelLimits limits)
    : m_cluster(cluster),
      m_router(router),
      m_connector(connector),
      m_constants(constants),
      m_limits(limits)
{
}

void
ChannelBuilder::Build(Communicator& communicator, uint32_t queuePairSeed)
{
    const auto parts = SplitByNode(communicator);
    if (communicator.Size() == 1)
    {
        communicator.channels.push_back({{0}, {}});
        communicator.searchChannels = 1;
        return;
    }
    const bool interNode = parts.size() > 1;
    std::vector<const NodeGraphs*> graphs;
    auto found = std::numeric_limits<uint32_t>::max();
    double speed = std::numeric_limits<double>::infinity();
    for (const auto& part : parts)
    {
        graphs.push_back(&GraphsOf(part, interNode));
        const RingGraph& rings = graphs.back()->rings;
        found = std::min(found, static_cast<uint32_t>(rings.rings.size()));
        speed = std::min(speed, rings.speed);
    }
    if (found == 0)
    {
        throw std::runtime_error(
            "no ring joins the " + std::to_string(communicator.Size()) + " GPUs of a group: " +
            (interNode ? "a node has no usable network port" : "its GPUs are not connected"));
    }
    communicator.searchChannels = found;
    communicator.searchBandwidth = found * speed;
    const uint32_t channels = FinalChannels(found, speed, interNode);
    for (uint32_t c = 0; c < channels; ++c)
    {
        if (!interNode && c >= found)
        {
            communicator.channels.push_back(communicator.channels[c % found]);
            continue;
        }
        communicator.channels.push_back(
            JoinNodes(parts, graphs, c % found, queuePairSeed * m_constants.MaxChannels() + c));
    }
}

void
ChannelBuilder::BuildTrees(Communicator& communicator, uint32_t queuePairSeed)
{
    if (communicator.Size() == 1)
    {
        return;
    }
    const auto parts = SplitByNode(communicator);
    std::vector<const TreeGraph*> treeGraphs;
    for (const auto& part : parts)
    {
        treeGraphs.push_back(&GraphsOf(part, parts.size() > 1).trees);
    }
    const TreeBuilder builder(
        m_connector, parts, std::move(treeGraphs), communicator.searchChannels);
    communicator.treePattern = builder.Pattern();
    communicator.treeGraph = builder.Speed();
    for (uint32_t c = 0; c < communicator.channels.size(); ++c)
    {
        communicator.trees.push_back(
            builder.Build(c, queuePairSeed * m_constants.MaxChannels() + c));
    }
    communicator.nvlsGraph = SearchNvls(communicator, m_connector, m_constants);
    communicator.collNetGraph = SearchCollNet(communicator, m_connector);
}

std::vector<NodePart>
ChannelBuilder::SplitByNode(const Communicator& communicator) const
{
    std::vector<NodePart> parts; // in the order in which ranks first name them
    std::map<uint32_t, std::size_t> partOfNode;
    for (uint32_t rank = 0; rank < communicator.Size(); ++rank)
    {
        const uint32_t node = m_cluster.NodeOf(communicator.gpus[rank]);
        const auto [it, isNew] = partOfNode.emplace(node, parts.size());
        if (isNew)
        {
            parts.push_back({node, {}, {}, {}});
        }
        parts[it->second].ranks.push_back(rank);
    }
    for (auto& part : parts)
    {
        const auto localOf = [&](uint32_t rank) {
            return m_cluster.LocalIndexOf(communicator.gpus[rank]);
        };
        std::sort(part.ranks.begin(), part.ranks.end(), [&](uint32_t a, uint32_t b) {
            return localOf(a) < localOf(b);
        });
        for (uint32_t rank : part.ranks)
        {
            part.localGpus.push_back(localOf(rank));
            part.gpus.push_back(communicator.gpus[rank]);
        }
    }
    return parts;
}

const ChannelBuilder::NodeGraphs&
ChannelBuilder::GraphsOf(const NodePart& part, bool interNode)
{
    auto& graphs = m_graphs[{interNode, part.localGpus}];
    if (!graphs)
    {
        NodeCapacity capacity(m_cluster, m_router, m_constants, part.node, part.localGpus);
        graphs = std::make_unique<NodeGraphs>();
        graphs->rings = SearchRings(capacity, m_constants, interNode);
        graphs->trees = SearchTrees(capacity, graphs->rings, m_constants, interNode);
    }
    return *graphs;
}

uint32_t
ChannelBuilder::FinalChannels(uint32_t found, double speed, bool interNode) const
{
    constexpr double FAST_RING = 45.0; // GB/s
    constexpr uint32_t FEW_CHANNELS = 16;
    uint32_t channels = std::min(2 * found, m_constants.MaxChannels());
    if (m_constants.ComputeCapability() >= 90 && interNode && speed > FAST_RING &&
        channels < FEW_CHANNELS)
    {
        channels *= 2;
    }
    const uint32_t most = std::min(m_limits.most, m_constants.MaxChannels());
    return std::min(std::max(channels, m_limits.least), most);
}

RingChannel
ChannelBuilder::JoinNodes(const std::vector<NodePart>& parts,
                          const std::vector<const NodeGraphs*>& graphs,
                          uint32_t searchChannel,
                          uint32_t queuePair) const
{
    const auto ringOf = [&](std::size_t k) -> const NodeRing& {
        // crossNic 2: on odd nodes the two rings of a pair are swapped, so a hop stays on a rail.
        const RingGraph& graph = graphs[k]->rings;
        const bool swapped = graph.alternating && k % 2 == 1;
        return graph.rings[swapped ? searchChannel ^ 1U : searchChannel];
    };
    RingChannel channel;
    for (std::size_t k = 0; k < parts.size(); ++k)
    {
        const NodePart& part = parts[k];
        const NodeRing& ring = ringOf(k);
        for (std::size_t i = 0; i < ring.order.size(); ++i)
        {
            channel.order.push_back(part.ranks[ring.order[i]]);
            const GpuId from = part.gpus[ring.order[i]];
            if (i + 1 < ring.order.size())
            {
                channel.hops.push_back(m_connector.InsideNode(from, part.gpus[ring.order[i + 1]]));
                continue;
            }
            if (parts.size() == 1)
            {
                channel.hops.push_back(m_connector.InsideNode(from, part.gpus[ring.order[0]]));
                continue;
            }
            const std::size_t next = (k + 1) % parts.size();
            const NodeRing& nextRing = ringOf(next);
            const NetworkPorts ports{ring.outNic, nextRing.inNic, part.gpus[ring.outGpu]};
            channel.hops.push_back(m_connector.BetweenNodes(
                from, parts[next].gpus[nextRing.order[0]], ports, queuePair));
        }
    }
    return channel;
}

} // namespace weir
