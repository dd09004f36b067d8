// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-direct-call.h"
#include "collectives/algorithms/collnet/collnet-parts-call.h"
#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/algorithms/part-places.h"
#include "collectives/schedule/message-split.h"

namespace weir
{

namespace
{

/** Wires one channel's blocks. */
class PartsWiring
{
  public:
    PartsWiring(const AlgorithmInputs& in, const CollNetPartsCall& call, ChannelSchedule& channel)
        : m_in(in),
          m_call(call),
          m_wiring(channel),
          m_places{call.Nodes(), call.heads},
          m_networks(
              AddPartNetworks(m_wiring, in, m_places, call.networks, call.gathers, call.networkCap))
    {
    }

    void Wire()
    {
        for (uint32_t node = 0; node < m_places.nodes; ++node)
        {
            WireNode(node);
        }
    }

  private:
    void WireNode(uint32_t node)
    {
        std::vector<uint32_t> paths; // by head: the block that has its parts of all nodes
        for (uint32_t head = 0; head < m_call.heads; ++head)
        {
            paths.push_back(WireHead(node, head));
        }
        for (uint32_t member = 0; member < m_call.heads && m_call.heads > 1; ++member)
        {
            WireMember(node, member, paths);
        }
    }

    /**
     * A head's two groups: what gives the network its own part and passes on all that come, or
     * what sums all parts of its number for the network and takes its own.
     */
    uint32_t WireHead(uint32_t node, uint32_t head)
    {
        const uint32_t rank = m_call.nodes[node].ranks[head];
        const uint32_t place = m_places.At(node, head);
        const uint32_t others = m_call.heads - 1;
        Program all;
        for (uint32_t i = 0; i < m_call.Nodes(); ++i)
        {
            Primitive step{KindOfAll(), m_places.Relative(place, m_places.From(node, i, head))};
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
            const CollNetBlocks& network = m_networks[m_places.From(node, i, head)];
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
    void WireMember(uint32_t node, uint32_t member, const std::vector<uint32_t>& paths)
    {
        const uint32_t others = m_call.heads - 1;
        const uint32_t place = m_places.At(node, member);
        const PrimitiveKind kind = m_call.gathers ? PrimitiveKind::Recv : PrimitiveKind::Send;
        Program program;
        for (uint32_t i = 0; i < m_call.Nodes(); ++i)
        {
            for (uint32_t j = 0; j < others; ++j)
            {
                const uint32_t head = (member + 1 + j) % m_call.heads;
                Primitive step{kind, m_places.Relative(place, m_places.From(node, i, head))};
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
                    paths[head], block, Pipe(m_in.connector.InsideNode(here.gpus[head], own)));
            }
            else
            {
                m_wiring.Join(
                    block, paths[head], Pipe(m_in.connector.InsideNode(own, here.gpus[head])));
            }
        }
    }

    ScheduleConnection Pipe(const Connection& path) const
    {
        ScheduleConnection pipe = CollNetDirectPipe(m_in, path, m_call.cap);
        pipe.slots *= m_call.Nodes(); // a slot holds a head's chunk: one of each node
        return pipe;
    }

    const AlgorithmInputs& m_in;
    const CollNetPartsCall& m_call;
    ScheduleWiring m_wiring;
    PartPlaces m_places;
    std::vector<CollNetBlocks> m_networks; //!< by place
};

} // namespace

Schedule
BuildCollNetPartsSchedule(const AlgorithmInputs& in)
{
    const CollNetPartsCall call(in);
    Schedule schedule = EmptyCollNetDirectSchedule(in);
    ChannelSchedule channel;
    PartsWiring(in, call, channel).Wire();
    AddChannels(schedule, channel, in.call.bytes, in.channels, call.chunk, in.communicator.Size());
    return schedule;
}

} // namespace weir
