// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-parts.h"

#include "collectives/algorithms/call-description.h"

namespace weir
{

PartsWiring::PartsWiring(const AlgorithmInputs& inputs,
                         const std::vector<NvlsNode>& nodes,
                         const std::vector<std::vector<CollNetPath>>& paths,
                         Rate cap,
                         ChannelSchedule& channel)
    : m_in(inputs),
      m_nodes(nodes),
      m_count(static_cast<uint32_t>(nodes.size())),
      m_heads(static_cast<uint32_t>(paths.size())),
      m_gathers(inputs.call.op == CollectiveOp::AllGather),
      m_wiring(channel)
{
    const CollNetEnds ends = m_gathers ? CollNetEnds{1, m_count} : CollNetEnds{m_count, 1};
    for (uint32_t node = 0; node < m_count; ++node)
    {
        for (uint32_t head = 0; head < m_heads; ++head)
        {
            // A head's parts of all nodes load its port in total like one channel of a ring.
            const CollNetPipe pipe{paths[head][node], cap / m_count, 1.0 / m_count};
            m_networks.push_back(AddCollNet(m_wiring, m_in, PartIndexOf(node, head), ends, pipe));
        }
    }
}

uint32_t
PartsWiring::AddHead(uint32_t node, uint32_t head, uint32_t rank, uint32_t ends)
{
    const ScheduleConnection nothing = WithinDevice(m_in);
    const uint32_t position = PartIndexOf(node, head);
    const uint32_t own = m_wiring.AddBlock(m_nodes[node].ranks[head],
                                           position,
                                           m_gathers ? PrimitiveKind::Send : PrimitiveKind::Recv,
                                           1,
                                           1);
    const uint32_t all = m_wiring.AddBlock(rank, position, EachPart(node, head, true, ends));
    Join(own, m_gathers ? m_networks[position].up : m_networks[position].down, nothing);
    for (uint32_t i = 0; i < m_count; ++i)
    {
        const BlockPair& network = m_networks[PartIndexOf((node + i) % m_count, head)];
        Join(m_gathers ? network.down : network.up, all, nothing);
    }
    return all;
}

uint32_t
PartsWiring::AddBehind(
    uint32_t node, uint32_t head, uint32_t block, uint32_t ends, const ScheduleConnection& pipe)
{
    const uint32_t behind = m_wiring.AddBlock(
        m_in.communicator.Size(), PartIndexOf(node, head), EachPart(node, head, false, ends));
    Join(block, behind, pipe);
    return behind;
}

void
PartsWiring::AddMember(uint32_t node,
                       uint32_t member,
                       const std::vector<uint32_t>& heads,
                       const std::vector<uint32_t>& blocks,
                       const std::vector<ScheduleConnection>& pipes)
{
    const uint32_t position = PartIndexOf(node, member);
    Program program;
    for (uint32_t i = 0; i < m_count; ++i)
    {
        for (std::size_t j = 0; j < heads.size(); ++j)
        {
            Primitive step{m_gathers ? PrimitiveKind::Recv : PrimitiveKind::Send,
                           PartFrom(node, i, heads[j], position)};
            step.recvFrom = static_cast<uint16_t>(j);
            step.sendTo = static_cast<uint16_t>(j);
            program.primitives.push_back(step);
        }
    }
    const uint32_t group = m_wiring.AddBlock(m_nodes[node].ranks[member], position, program);
    for (std::size_t j = 0; j < heads.size(); ++j)
    {
        ScheduleConnection pipe = pipes[j];
        pipe.slots *= m_count;
        Join(blocks[heads[j]], group, pipe);
    }
}

/**
 * The parts of a head of all nodes, one after the other; towards the network over one connection
 * each.
 */
Program
PartsWiring::EachPart(uint32_t node, uint32_t head, bool isAtNetwork, uint32_t ends) const
{
    Program program;
    for (uint32_t i = 0; i < m_count; ++i)
    {
        Primitive step{PrimitiveKind::Send, PartFrom(node, i, head, PartIndexOf(node, head))};
        const auto pipe = static_cast<uint16_t>(isAtNetwork ? i : 0);
        if (m_gathers)
        {
            step.kind = ends > 0 ? PrimitiveKind::RecvCopySend : PrimitiveKind::Recv;
            step.recvFrom = pipe;
            step.sends = static_cast<uint16_t>(ends);
        }
        else
        {
            step.kind = ends > 0 ? PrimitiveKind::RecvReduceSend : PrimitiveKind::Send;
            step.sendTo = pipe;
            step.recvs = static_cast<uint16_t>(ends);
        }
        program.primitives.push_back(step);
    }
    return program;
}

int32_t
PartsWiring::PartFrom(uint32_t node, uint32_t i, uint32_t head, uint32_t position) const
{
    const uint32_t parts = m_count * m_heads;
    return static_cast<int32_t>((PartIndexOf((node + i) % m_count, head) + parts - position) %
                                parts);
}

/** Connects @p nearer to @p farther for an all-gather, and in reverse for a reduce-scatter. */
void
PartsWiring::Join(uint32_t nearer, uint32_t farther, const ScheduleConnection& pipe)
{
    m_gathers ? m_wiring.Join(nearer, farther, pipe) : m_wiring.Join(farther, nearer, pipe);
}

} // namespace weir
