// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet-direct-call.h"
#include "collectives/algorithms/collnet-parts-call.h"
#include "collectives/algorithms/nvls-blocks.h"
#include "collectives/algorithms/ring-channels.h"
#include "collectives/schedule/message-split.h"

namespace weir
{

namespace
{

/**
 * Wires one channel's blocks. Parts are in places by node, then head, and every block takes those
 * of its own node first, so that blocks of all nodes have the same programs.
 */
class PartsWiring
{
  public:
    PartsWiring(const AlgorithmInputs& in, const CollNetPartsCall& call, ChannelSchedule& channel)
        : m_in(in),
          m_call(call),
          m_wiring(channel)
    {
    }

    void Wire()
    {
        const uint32_t nodes = m_call.Nodes();
        const CollNetEnds ends = m_call.gathers ? CollNetEnds{1, nodes} : CollNetEnds{nodes, 1};
        for (uint32_t node = 0; node < nodes; ++node)
        {
            for (uint32_t head = 0; head < m_call.heads; ++head)
            {
                // A head's parts of all nodes load its port as one channel of a ring does.
                const CollNetPipe pipe{
                    m_call.networks[head][node], m_call.cap / nodes, 1.0 / nodes};
                m_networks.push_back(AddCollNet(m_wiring, m_in, Place(node, head), ends, pipe));
            }
        }
        for (uint32_t node = 0; node < nodes; ++node)
        {
            WireNode(node);
        }
    }

  private:
    /** Of the part of the rank at head @p head of node @p node. */
    uint32_t Place(uint32_t node, uint32_t head) const
    {
        return node * m_call.heads + head;
    }

    /** The part of head @p head in the @p i-th node from @p node on. */
    uint32_t PartFrom(uint32_t node, uint32_t i, uint32_t head) const
    {
        return Place((node + i) % m_call.Nodes(), head);
    }

    /** The chunk of part @p part as a block at @p place names it. */
    int32_t Relative(uint32_t place, uint32_t part) const
    {
        const uint32_t parts = m_call.Nodes() * m_call.heads;
        return static_cast<int32_t>((part + parts - place) % parts);
    }

    void WireNode(uint32_t node)
    {
        std::vector<uint32_t> ways; // by head: the block that has its parts of all nodes
        for (uint32_t head = 0; head < m_call.heads; ++head)
        {
            ways.push_back(WireHead(node, head));
        }
        for (uint32_t member = 0; member < m_call.heads && m_call.heads > 1; ++member)
        {
            WireMember(node, member, ways);
        }
    }

    /**
     * A head's two groups: what gives the network its own part and passes on all that come, or
     * what sums all parts of its number for the network and takes its own.
     */
    uint32_t WireHead(uint32_t node, uint32_t head)
    {
        const uint32_t rank = m_call.nodes[node].ranks[head];
        const uint32_t place = Place(node, head);
        const uint32_t others = m_call.heads - 1;
        Program all;
        for (uint32_t i = 0; i < m_call.Nodes(); ++i)
        {
            Primitive step{KindOfAll(), Relative(place, PartFrom(node, i, head))};
            if (m_call.gathers)
            {
                step.recvFrom = static_cast<uint16_t>(i);
                step.sends = static_cast<uint16_t>(others);
            }
            else
            {
                step.sendTo = static_cast<uint16_t>(i);
                step.recvs = static_cast<uint16_t>(others);
            }
            all.primitives.push_back(step);
        }
        const uint32_t one = m_wiring.AddBlock(
            rank, place, OneStep(m_call.gathers ? PrimitiveKind::Send : PrimitiveKind::Recv, 1, 1));
        const uint32_t many = m_wiring.AddBlock(rank, place, all);
        if (m_call.gathers)
        {
            m_wiring.Join(one, m_networks[place].into, HeadToCollNet(m_in));
        }
        else
        {
            m_wiring.Join(m_networks[place].outOf, one, HeadToCollNet(m_in));
        }
        for (uint32_t i = 0; i < m_call.Nodes(); ++i)
        {
            const CollNetBlocks& network = m_networks[PartFrom(node, i, head)];
            if (m_call.gathers)
            {
                m_wiring.Join(network.outOf, many, HeadToCollNet(m_in));
            }
            else
            {
                m_wiring.Join(many, network.into, HeadToCollNet(m_in));
            }
        }
        return many;
    }

    PrimitiveKind KindOfAll() const
    {
        if (m_call.heads == 1)
        {
            return m_call.gathers ? PrimitiveKind::Recv : PrimitiveKind::Send;
        }
        return m_call.gathers ? PrimitiveKind::RecvCopySend : PrimitiveKind::RecvReduceSend;
    }

    /** The group of a GPU that takes the parts of all heads but itself, or gives theirs. */
    void WireMember(uint32_t node, uint32_t member, const std::vector<uint32_t>& ways)
    {
        const uint32_t others = m_call.heads - 1;
        const uint32_t place = Place(node, member);
        const PrimitiveKind kind = m_call.gathers ? PrimitiveKind::Recv : PrimitiveKind::Send;
        Program program;
        for (uint32_t i = 0; i < m_call.Nodes(); ++i)
        {
            for (uint32_t j = 0; j < others; ++j)
            {
                const uint32_t head = (member + 1 + j) % m_call.heads;
                Primitive step{kind, Relative(place, PartFrom(node, i, head))};
                step.recvFrom = static_cast<uint16_t>(j);
                step.sendTo = static_cast<uint16_t>(j);
                program.primitives.push_back(step);
            }
        }
        const NvlsNode& here = m_call.nodes[node];
        const uint32_t block = m_wiring.AddBlock(here.ranks[member], place, program);
        for (uint32_t j = 0; j < others; ++j)
        {
            const uint32_t head = (member + 1 + j) % m_call.heads;
            const GpuId own = here.gpus[member];
            if (m_call.gathers)
            {
                m_wiring.Join(
                    ways[head], block, Pipe(m_in.connector.InsideNode(here.gpus[head], own)));
            }
            else
            {
                m_wiring.Join(
                    block, ways[head], Pipe(m_in.connector.InsideNode(own, here.gpus[head])));
            }
        }
    }

    ScheduleConnection Pipe(const Connection& way) const
    {
        ScheduleConnection pipe;
        pipe.connection = way;
        pipe.slots *= m_call.Nodes(); // a slot holds a head's chunk: one of each node
        pipe.latency = CollNetDirectHop(m_in, way);
        pipe.cap = m_call.cap;
        return pipe;
    }

    const AlgorithmInputs& m_in;
    const CollNetPartsCall& m_call;
    ScheduleWiring m_wiring;
    std::vector<CollNetBlocks> m_networks; //!< by place
};

} // namespace

Schedule
BuildCollNetPartsSchedule(const AlgorithmInputs& in)
{
    const CollNetPartsCall call(in);
    Schedule schedule = EmptySchedule(in, Algorithm::CollNetDirect);
    schedule.channelCap = Rate::Infinite(); // only pipes to and from GPUs are bound by a block
    schedule.startLatency = in.constants.BaseLatency(Algorithm::CollNetDirect, in.protocol);
    for (const auto& share : SplitOverChannels(in.call.bytes, in.channels))
    {
        ChannelSchedule channel;
        PartsWiring(in, call, channel).Wire();
        channel.loops = SplitIntoLoops(share.bytes, call.chunk, in.communicator.Size(), 1);
        schedule.channels.push_back({std::move(channel), share.channels});
    }
    return schedule;
}

} // namespace weir
