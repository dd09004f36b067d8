// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-direct-call.h"
#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/schedule/message-split.h"

namespace weir
{

namespace
{

/** Wires one channel's blocks. */
class DirectWiring
{
  public:
    DirectWiring(const AlgorithmInputs& in,
                 const CollNetDirectCall& direct,
                 ChannelSchedule& channel)
        : m_in(in),
          m_direct(direct),
          m_wiring(channel)
    {
    }

    void Wire()
    {
        const auto nodes = static_cast<uint32_t>(m_direct.nodes.size());
        for (uint32_t head = 0; head < m_direct.heads; ++head)
        {
            m_networks.push_back(AddCollNet(
                m_wiring, m_in, head, nodes, m_direct.networks[head], m_direct.networkCap));
        }
        for (const auto& node : m_direct.nodes)
        {
            WireNode(node);
        }
    }

  private:
    /** A head's two groups: what it adds its data to and gives the network, what it passes on. */
    struct HeadBlocks
    {
        uint32_t summing{0};
        uint32_t spreading{0};
    };

    void WireNode(const NvlsNode& node)
    {
        const auto others = static_cast<uint32_t>(node.ranks.size() - 1);
        std::vector<HeadBlocks> heads;
        for (uint32_t head = 0; head < m_direct.heads; ++head)
        {
            const uint32_t rank = node.ranks[node.heads[head].member];
            const bool alone = others == 0;
            HeadBlocks blocks;
            blocks.summing = m_wiring.AddBlock(
                rank,
                head,
                OneStep(alone ? PrimitiveKind::Send : PrimitiveKind::RecvReduceSend,
                        alone ? 1 : others,
                        1));
            blocks.spreading =
                m_wiring.AddBlock(rank,
                                  head,
                                  OneStep(alone ? PrimitiveKind::Recv : PrimitiveKind::RecvCopySend,
                                          1,
                                          alone ? 1 : others));
            m_wiring.Join(blocks.summing, m_networks[head].into, HeadToCollNet(m_in));
            m_wiring.Join(m_networks[head].outOf, blocks.spreading, HeadToCollNet(m_in));
            heads.push_back(blocks);
        }
        for (uint32_t member = 0; member < node.ranks.size() && others > 0; ++member)
        {
            WireMember(node, member, heads);
        }
    }

    /** The groups of a GPU that send to all heads but itself, and receive from them. */
    void WireMember(const NvlsNode& node, uint32_t member, const std::vector<HeadBlocks>& heads)
    {
        std::vector<uint32_t> order;
        for (uint32_t i = 0; i < heads.size(); ++i)
        {
            const auto head = static_cast<uint32_t>((member + i) % heads.size());
            if (node.heads[head].member != member)
            {
                order.push_back(head);
            }
        }
        const uint32_t sending =
            m_wiring.AddBlock(node.ranks[member], 0, InOrder(PrimitiveKind::Send, order));
        const uint32_t receiving =
            m_wiring.AddBlock(node.ranks[member], 0, InOrder(PrimitiveKind::Recv, order));
        for (uint32_t head : order)
        {
            m_wiring.Join(sending,
                          heads[head].summing,
                          CollNetDirectPipe(m_in,
                                            CollNetDirectPaths(m_in, node, head, true)[member],
                                            m_direct.cap));
            m_wiring.Join(heads[head].spreading,
                          receiving,
                          CollNetDirectPipe(m_in,
                                            CollNetDirectPaths(m_in, node, head, false)[member],
                                            m_direct.cap));
        }
    }

    static Program InOrder(PrimitiveKind kind, const std::vector<uint32_t>& chunks)
    {
        Program program = EachChunk(kind, static_cast<uint32_t>(chunks.size()));
        for (std::size_t i = 0; i < chunks.size(); ++i)
        {
            program.primitives[i].chunk = static_cast<int32_t>(chunks[i]);
        }
        return program;
    }

    const AlgorithmInputs& m_in;
    const CollNetDirectCall& m_direct;
    ScheduleWiring m_wiring;
    std::vector<CollNetBlocks> m_networks; //!< by head
};

} // namespace

Schedule
BuildCollNetDirectSchedule(const AlgorithmInputs& in)
{
    const CollNetDirectCall direct(in);
    Schedule schedule = EmptyCollNetDirectSchedule(in);
    ChannelSchedule channel;
    DirectWiring(in, direct, channel).Wire();
    AddChannels(schedule, channel, in.call.bytes, in.channels, direct.chunk, direct.heads);
    return schedule;
}

} // namespace weir
