// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/channels/tree-builder.h"

#include "collectives/channels/double-binary-tree.h"
#include "fabric/routing/routing.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir
{

TreeBuilder::TreeBuilder(Connector& connector,
                         const std::vector<NodePart>& parts,
                         std::vector<const TreeGraph*> graphs,
                         uint32_t found)
    : m_connector(connector),
      m_parts(parts),
      m_graphs(std::move(graphs)),
      m_found(found)
{
    for (const auto* graph : m_graphs)
    {
        m_pattern = std::max(m_pattern, graph->pattern); // the plainest
    }
}

GraphSpeed
TreeBuilder::Speed() const
{
    GraphSpeed speed{
        m_found, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    speed.plainTree = m_pattern == TreePattern::Plain;
    for (const auto* graph : m_graphs)
    {
        speed.intra = std::min(speed.intra, graph->intra);
        speed.inter = std::min(speed.inter, graph->inter);
    }
    return speed;
}

TreeChannel
TreeBuilder::Build(uint32_t channel, uint32_t queuePair) const
{
    TreeChannel tree;
    for (const auto& part : m_parts)
    {
        tree.places.resize(tree.places.size() + part.ranks.size());
    }
    const auto nodes = static_cast<uint32_t>(m_parts.size());
    for (std::size_t k = 0; k < m_parts.size(); ++k)
    {
        AddChain(tree, k, channel);
    }
    for (uint32_t k = 0; k < nodes; ++k)
    {
        const auto node = PlaceInDoubleTree(nodes, k, channel / m_found % 2);
        if (node.parent == BinaryTreePlace::NONE)
        {
            continue;
        }
        const End here{k, 0};
        const End there = ChildEnd(node.parent, node.side, channel);
        TreePlace& place = tree.places[RankAt(here, channel)];
        place.parent = RankAt(there, channel);
        place.toParent = Between(here, there, channel, queuePair);
        place.fromParent = Between(there, here, channel, queuePair);
        tree.places[place.parent].children.push_back(RankAt(here, channel));
    }
    return tree;
}

void
TreeBuilder::AddChain(TreeChannel& tree, std::size_t part, uint32_t channel) const
{
    const std::size_t length = m_parts[part].ranks.size();
    for (std::size_t i = 1; i < length; ++i)
    {
        const End above{part, i - 1};
        const End here{part, i};
        TreePlace& place = tree.places[RankAt(here, channel)];
        place.parent = RankAt(above, channel);
        const GpuId gpu = GpuAt(here, channel);
        const GpuId parent = GpuAt(above, channel);
        const auto& middles = m_parts[part].middles;
        place.toParent = m_connector.InsideNodeBy(middles, gpu, parent);
        place.fromParent = m_connector.InsideNodeBy(middles, parent, gpu);
        tree.places[place.parent].children.push_back(RankAt(here, channel));
    }
}

const NodeChain&
TreeBuilder::ChainOf(std::size_t part, uint32_t channel) const
{
    return m_graphs[part]->chains[channel % m_found];
}

GpuId
TreeBuilder::GpuAt(const End& end, uint32_t channel) const
{
    return m_parts[end.part].gpus[ChainOf(end.part, channel).order[end.place]];
}

uint32_t
TreeBuilder::RankAt(const End& end, uint32_t channel) const
{
    return m_parts[end.part].ranks[ChainOf(end.part, channel).order[end.place]];
}

TreeBuilder::End
TreeBuilder::ChildEnd(std::size_t part, uint32_t side, uint32_t channel) const
{
    const bool second =
        m_pattern == TreePattern::Split || (m_pattern == TreePattern::Balanced && side == 0);
    const bool several = ChainOf(part, channel).order.size() > 1;
    return {part, second && several ? 1U : 0U};
}

Connection
TreeBuilder::Between(const End& from, const End& to, uint32_t channel, uint32_t queuePair) const
{
    const NodeChain& sending = ChainOf(from.part, channel);
    const GpuId sender = GpuAt(from, channel);
    const GpuId first = GpuAt({from.part, 0}, channel);
    const bool proxy = from.place > 0 && !sending.secondIsNear &&
                       m_connector.InsideNode(sender, first).kind == ConnectionKind::NvLink;
    const NetworkPorts ports{sending.nic, ChainOf(to.part, channel).nic, proxy ? first : sender};
    return m_connector.BetweenNodes(sender, GpuAt(to, channel), ports, queuePair);
}

} // namespace weir
