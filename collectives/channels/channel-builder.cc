// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/channel-builder.h"

#include "collectives/channels/nvls-graph.h"
#include "fabric/routing/routing.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace weir
{

namespace
{

/**
 * Joins the chains of a communicator's nodes to NCCL's trees (src/graph/connect.cc). Between nodes
 * the edges are those of NeighborsInDoubleTree: of every 2 x @p found channels the first half use
 * tree 0 and the second half tree 1. A node is connected to its parent at the first GPU of its
 * chain, and to its children as the pattern says.
 */
class TreeBuilder
{
  public:
    /** Both must outlive it. All nodes have at least @p found chains. */
    TreeBuilder(Connector& connector, const JoinedNodes& joined, uint32_t found)
        : m_connector(connector),
          m_joined(joined),
          m_speed{found,
                  std::numeric_limits<double>::infinity(),
                  std::numeric_limits<double>::infinity()}
    {
        for (const NodeGraphs* graphs : joined.graphs)
        {
            const TreeGraph& trees = graphs->trees;
            m_speed.pattern = std::max(m_speed.pattern, trees.pattern); // the plainest
            m_speed.intra = std::min(m_speed.intra, trees.intra);
            m_speed.inter = std::min(m_speed.inter, trees.inter);
        }
    }

    /** The search's channels, at the speed and with the pattern of all nodes. */
    const GraphSpeed& Speed() const
    {
        return m_speed;
    }

    /** The tree of one channel of the communicator; @p queuePair is for its network connections. */
    TreeChannel Build(uint32_t channel, uint32_t queuePair) const
    {
        TreeChannel tree;
        for (const auto& part : m_joined.parts)
        {
            tree.neighbors.resize(tree.neighbors.size() + part.ranks.size());
        }
        const auto nodes = static_cast<uint32_t>(m_joined.parts.size());
        for (std::size_t k = 0; k < m_joined.parts.size(); ++k)
        {
            AddChain(tree, k, channel);
        }
        for (uint32_t k = 0; k < nodes; ++k)
        {
            const auto node = NeighborsInDoubleTree(nodes, k, channel / m_speed.channels % 2);
            if (node.parent == BinaryTreeNode::NONE)
            {
                continue;
            }
            const End here{k, 0};
            const End there = ChildEnd(node.parent, node.side, channel);
            TreeNeighbors& own = tree.neighbors[RankAt(here, channel)];
            own.parent = RankAt(there, channel);
            own.toParent = Between(here, there, channel, queuePair);
            own.fromParent = Between(there, here, channel, queuePair);
            tree.neighbors[own.parent].children.push_back(RankAt(here, channel));
        }
        return tree;
    }

  private:
    /** One end of a connection between nodes. */
    struct End
    {
        std::size_t part;
        std::size_t index; //!< index in the chain
    };

    const NodeChain& ChainOf(std::size_t part, uint32_t channel) const
    {
        return m_joined.graphs[part]->trees.chains[channel % m_speed.channels];
    }

    GpuId GpuAt(const End& end, uint32_t channel) const
    {
        return m_joined.parts[end.part].gpus[ChainOf(end.part, channel).order[end.index]];
    }

    uint32_t RankAt(const End& end, uint32_t channel) const
    {
        return m_joined.parts[end.part].ranks[ChainOf(end.part, channel).order[end.index]];
    }

    End ChildEnd(std::size_t part, uint32_t side, uint32_t channel) const
    {
        const bool second = m_speed.pattern == TreePattern::Split ||
                            (m_speed.pattern == TreePattern::Balanced && side == 0);
        const bool several = ChainOf(part, channel).order.size() > 1;
        return {part, second && several ? 1U : 0U};
    }

    Connection Between(const End& from, const End& to, uint32_t channel, uint32_t queuePair) const
    {
        const NodeChain& sending = ChainOf(from.part, channel);
        const GpuId sender = GpuAt(from, channel);
        const GpuId first = GpuAt({from.part, 0}, channel);
        const bool proxy = from.index > 0 && sending.relays &&
                           m_connector.InsideNode(sender, first).kind == ConnectionKind::NvLink;
        const NetworkPorts ports{
            sending.nic, ChainOf(to.part, channel).nic, proxy ? first : sender};
        return m_connector.BetweenNodes(sender, GpuAt(to, channel), ports, queuePair);
    }

    void AddChain(TreeChannel& tree, std::size_t part, uint32_t channel) const
    {
        const std::size_t length = m_joined.parts[part].ranks.size();
        const std::vector<GpuId> middles = m_joined.Middles(part);
        for (std::size_t i = 1; i < length; ++i)
        {
            const End above{part, i - 1};
            const End here{part, i};
            TreeNeighbors& own = tree.neighbors[RankAt(here, channel)];
            own.parent = RankAt(above, channel);
            const GpuId gpu = GpuAt(here, channel);
            const GpuId parent = GpuAt(above, channel);
            own.toParent = m_connector.InsideNodeBy(middles, gpu, parent);
            own.fromParent = m_connector.InsideNodeBy(middles, parent, gpu);
            tree.neighbors[own.parent].children.push_back(RankAt(here, channel));
        }
    }

    Connector& m_connector;
    const JoinedNodes& m_joined;
    GraphSpeed m_speed;
};

} // namespace

ChannelBuilder::ChannelBuilder(const Cluster& cluster,
                               Connector& connector,
                               const NcclConstants& constants,
                               const NcclSettings& settings)
    : m_cluster(cluster),
      m_connector(connector),
      m_constants(constants),
      m_settings(settings)
{
}

void
ChannelBuilder::Build(Communicator& communicator, uint32_t queuePairSeed)
{
    if (communicator.Size() == 1)
    {
        communicator.channels.push_back({{0}, {}});
        communicator.searchChannels = 1;
        return;
    }
    const JoinedNodes joined = JoinedOf(communicator);
    const bool interNode = joined.parts.size() > 1;
    auto found = std::numeric_limits<uint32_t>::max();
    double speed = std::numeric_limits<double>::infinity();
    for (const NodeGraphs* graphs : joined.graphs)
    {
        found = std::min(found, static_cast<uint32_t>(graphs->rings.rings.size()));
        speed = std::min(speed, graphs->rings.speed);
    }
    if (found == 0)
    {
        throw std::runtime_error(
            "found no ring over the " + std::to_string(communicator.Size()) + " GPUs of a group: " +
            (interNode ? "a node has no usable network port" : "its GPUs are not connected") +
            ", expected GPUs connected by links");
    }
    communicator.searchChannels = found;
    communicator.searchBandwidth = found * speed;
    if (interNode && m_cluster.GetSpec().fabric.inNetworkReduction)
    {
        // NCCL searches the graph of CollNet's chains as it does that of trees (init.cc).
        communicator.collNetGraph = TreeBuilder(m_connector, joined, found).Speed();
    }
    const uint32_t channels = FinalChannels(communicator, speed);
    for (uint32_t c = 0; c < channels; ++c)
    {
        communicator.channels.push_back(
            {c < found ? OrderOf(joined, c) : communicator.channels[c % found].order, {}});
    }
    Connect(communicator, queuePairSeed, 1);
}

void
ChannelBuilder::Connect(Communicator& communicator, uint32_t queuePairSeed, uint32_t channels)
{
    if (communicator.Size() == 1 || !communicator.channels[channels - 1].hops.empty())
    {
        return;
    }
    const JoinedNodes joined = JoinedOf(communicator);
    for (uint32_t c = 0; c < channels; ++c)
    {
        RingChannel& channel = communicator.channels[c];
        if (channel.hops.empty())
        {
            channel.hops = HopsOf(joined,
                                  c % communicator.searchChannels,
                                  queuePairSeed * m_constants.MaxChannels() + c);
        }
    }
}

void
ChannelBuilder::BuildTrees(Communicator& communicator)
{
    if (communicator.Size() == 1)
    {
        return;
    }
    communicator.trees.resize(communicator.channels.size());
    const JoinedNodes joined = JoinedOf(communicator);
    const TreeBuilder builder(m_connector, joined, communicator.searchChannels);
    communicator.treeGraph = builder.Speed();
    communicator.nvlsGraph = SearchNvls(communicator, m_connector, m_constants);
}

void
ChannelBuilder::ConnectTrees(Communicator& communicator, uint32_t queuePairSeed, uint32_t channels)
{
    if (communicator.Size() == 1 || !communicator.trees[channels - 1].neighbors.empty())
    {
        return;
    }
    const JoinedNodes joined = JoinedOf(communicator);
    const TreeBuilder builder(m_connector, joined, communicator.searchChannels);
    for (uint32_t c = 0; c < channels; ++c)
    {
        if (communicator.trees[c].neighbors.empty())
        {
            communicator.trees[c] = builder.Build(c, queuePairSeed * m_constants.MaxChannels() + c);
        }
    }
}

JoinedNodes
ChannelBuilder::JoinedOf(const Communicator& communicator)
{
    JoinedNodes joined{RanksByNode(communicator, m_cluster), {}, m_constants.ChannelsPassGpus()};
    for (const auto& part : joined.parts)
    {
        joined.graphs.push_back(&GraphsOf(part, joined.parts.size() > 1));
    }
    return joined;
}

const NodeGraphs&
ChannelBuilder::GraphsOf(const NodeRanks& part, bool interNode)
{
    std::vector<uint32_t> localGpus;
    for (const GpuId gpu : part.gpus)
    {
        localGpus.push_back(m_cluster.LocalIndexOf(gpu));
    }
    auto& graphs = m_graphs[{interNode, std::move(localGpus)}];
    if (!graphs)
    {
        NodeCapacity capacity(m_connector, m_constants, part.gpus);
        graphs = std::make_unique<NodeGraphs>();
        const NicRules& rules = m_connector.GetRules();
        graphs->rings = SearchRings(capacity, m_constants, interNode, rules);
        graphs->trees = SearchTrees(capacity, graphs->rings, m_constants, interNode, rules);
    }
    return *graphs;
}

uint32_t
ChannelBuilder::FinalChannels(const Communicator& communicator, double speed) const
{
    constexpr uint32_t FEW_CHANNELS = 16;
    uint32_t channels = std::min(2 * communicator.searchChannels, m_constants.MaxChannels());
    const GraphSpeed& collNet = communicator.collNetGraph;
    if (collNet.intra > collNet.inter && communicator.gpusPerNode > 1)
    {
        channels += channels / 2; // to fill the chains inside nodes
    }
    if (communicator.nodes > 1 && speed > m_constants.ValueOf(NcclTable::DoubledSpeed) &&
        channels < FEW_CHANNELS)
    {
        channels *= 2;
    }
    return m_settings.channelLimits.Apply(channels, m_constants.MaxChannels());
}

const NodeRing&
ChannelBuilder::RingOf(const JoinedNodes& joined, std::size_t k, uint32_t searchChannel)
{
    // crossNic 2: on nodes of odd index the two rings of a pair are swapped, so a hop stays on a
    // rail.
    const RingGraph& graph = joined.graphs[k]->rings;
    const bool swapped = graph.alternating && k % 2 == 1;
    return graph.rings[swapped ? searchChannel ^ 1U : searchChannel];
}

std::vector<uint32_t>
ChannelBuilder::OrderOf(const JoinedNodes& joined, uint32_t searchChannel)
{
    std::vector<uint32_t> order;
    for (std::size_t k = 0; k < joined.parts.size(); ++k)
    {
        for (const uint32_t index : RingOf(joined, k, searchChannel).order)
        {
            order.push_back(joined.parts[k].ranks[index]);
        }
    }
    return order;
}

std::vector<Connection>
ChannelBuilder::HopsOf(const JoinedNodes& joined, uint32_t searchChannel, uint32_t queuePair) const
{
    std::vector<Connection> hops;
    for (std::size_t k = 0; k < joined.parts.size(); ++k)
    {
        const NodeRanks& part = joined.parts[k];
        const std::vector<GpuId> middles = joined.Middles(k);
        const NodeRing& ring = RingOf(joined, k, searchChannel);
        for (std::size_t i = 0; i < ring.order.size(); ++i)
        {
            const GpuId from = part.gpus[ring.order[i]];
            const bool isLast = i + 1 == ring.order.size();
            if (!isLast || joined.parts.size() == 1)
            {
                const GpuId to = part.gpus[ring.order[isLast ? 0 : i + 1]];
                hops.push_back(m_connector.InsideNodeBy(middles, from, to));
                continue;
            }
            const std::size_t next = (k + 1) % joined.parts.size();
            const NodeRing& nextRing = RingOf(joined, next, searchChannel);
            const NetworkPorts ports{ring.outNic, nextRing.inNic, part.gpus[ring.outGpu]};
            hops.push_back(m_connector.BetweenNodes(
                from, joined.parts[next].gpus[nextRing.order[0]], ports, queuePair));
        }
    }
    return hops;
}

} // namespace weir
