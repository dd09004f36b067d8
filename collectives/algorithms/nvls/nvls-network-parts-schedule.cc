// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-blocks.h"
#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/algorithms/nvls/nvls-network-parts-call.h"
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
    PartsWiring(const AlgorithmInputs& in,
                const NvlsNetworkPartsCall& call,
                ChannelSchedule& channel)
        : m_in(in),
          m_call(call),
          m_wiring(channel),
          m_places{call.Nodes(), call.inside.Heads()},
          m_networks(AddPartNetworks(
              m_wiring, in, m_places, call.networks, call.gathers, Rate::Infinite()))
    {
    }

    void Wire()
    {
        for (uint32_t node = 0; node < m_places.nodes; ++node)
        {
            m_call.gathers ? WireGather(node) : WireScatter(node);
        }
    }

  private:
    uint32_t Heads() const
    {
        return m_call.inside.Heads();
    }

    /** How a block's steps meet its connections: the same one each time, or one of each node. */
    enum class Ends : uint8_t
    {
        Same,
        EachNode
    };

    /** The parts of head @p head of all nodes, one after the other. */
    Program EachPart(PrimitiveKind kind,
                     uint32_t node,
                     uint32_t head,
                     Ends from,
                     uint32_t recvs,
                     Ends to,
                     uint32_t sends) const
    {
        Program program;
        for (uint32_t i = 0; i < m_call.Nodes(); ++i)
        {
            Primitive step{
                kind, m_places.Relative(m_places.At(node, head), m_places.From(node, i, head))};
            step.recvFrom = from == Ends::EachNode ? static_cast<uint16_t>(i) : uint16_t{0};
            step.sendTo = to == Ends::EachNode ? static_cast<uint16_t>(i) : uint16_t{0};
            step.recvs = static_cast<uint16_t>(recvs);
            step.sends = static_cast<uint16_t>(sends);
            program.primitives.push_back(step);
        }
        return program;
    }

    /** A block of a head that is no rank's own: it has no data but what comes. */
    uint32_t AddSwitch(uint32_t node, uint32_t head, const Program& program)
    {
        return m_wiring.AddBlock(m_in.communicator.Size(), m_places.At(node, head), program);
    }

    uint32_t RankOf(uint32_t node, uint32_t head) const
    {
        const NvlsNode& here = m_call.inside.nodes[node];
        return here.ranks[here.heads[head].member];
    }

    /** Own part to the network; what comes from it to all GPUs. */
    void WireGather(uint32_t node)
    {
        const auto gpus = static_cast<uint32_t>(m_call.inside.nodes[node].gpus.size());
        std::vector<uint32_t> multicasts;
        for (uint32_t head = 0; head < Heads(); ++head)
        {
            const uint32_t place = m_places.At(node, head);
            const uint32_t own =
                m_wiring.AddBlock(RankOf(node, head), place, OneStep(PrimitiveKind::Send, 1, 1));
            m_wiring.Join(own, m_networks[place].into, HeadToCollNet(m_in));
            const uint32_t storing = AddSwitch(
                node,
                head,
                EachPart(
                    PrimitiveKind::RecvCopySend, node, head, Ends::EachNode, 1, Ends::Same, 1));
            for (uint32_t i = 0; i < m_call.Nodes(); ++i)
            {
                m_wiring.Join(
                    m_networks[m_places.From(node, i, head)].outOf, storing, HeadToCollNet(m_in));
            }
            const uint32_t multicast = AddSwitch(
                node,
                head,
                EachPart(PrimitiveKind::RecvCopySend, node, head, Ends::Same, 1, Ends::Same, gpus));
            m_wiring.Join(storing, multicast, Accesses(node, head));
            multicasts.push_back(multicast);
        }
        WireCopies(node, multicasts);
    }

    /** All data to the NVSwitch; sums of a head's parts to the network; own part from it. */
    void WireScatter(uint32_t node)
    {
        const auto gpus = static_cast<uint32_t>(m_call.inside.nodes[node].gpus.size());
        std::vector<uint32_t> sums;
        for (uint32_t head = 0; head < Heads(); ++head)
        {
            const uint32_t place = m_places.At(node, head);
            const uint32_t sum = AddSwitch(
                node,
                head,
                EachPart(
                    PrimitiveKind::RecvReduceSend, node, head, Ends::Same, gpus, Ends::Same, 1));
            const uint32_t reducing = AddSwitch(
                node,
                head,
                EachPart(
                    PrimitiveKind::RecvReduceSend, node, head, Ends::Same, 1, Ends::EachNode, 1));
            m_wiring.Join(sum, reducing, Accesses(node, head));
            for (uint32_t i = 0; i < m_call.Nodes(); ++i)
            {
                m_wiring.Join(
                    reducing, m_networks[m_places.From(node, i, head)].into, HeadToCollNet(m_in));
            }
            const uint32_t own =
                m_wiring.AddBlock(RankOf(node, head), place, OneStep(PrimitiveKind::Recv, 1, 1));
            m_wiring.Join(m_networks[place].outOf, own, HeadToCollNet(m_in));
            sums.push_back(sum);
        }
        WireCopies(node, sums);
    }

    /** What a head's accesses of one node load; a pass of all its parts synchronises once. */
    ScheduleConnection Accesses(uint32_t node, uint32_t head) const
    {
        const NvlsNodesCall& inside = m_call.inside;
        const uint32_t member = inside.nodes[node].heads[head].member;
        const MulticastGroup& group = inside.groups[node];
        ScheduleConnection accesses;
        accesses.slots = 1; // the next chunk is begun when this one is posted
        accesses.latency = inside.sync * (1.0 / m_call.Nodes());
        accesses.wireFactor = inside.wireFactor;
        accesses.weight = inside.weight;
        accesses.connection.route =
            m_in.routing.AddFixed(m_call.gathers ? group.Store(member) : group.Reduction(member));
        return accesses;
    }

    /** The groups of a node's GPUs that copy to all sums, or from all multicasts, by head. */
    void WireCopies(uint32_t node, const std::vector<uint32_t>& heads)
    {
        ScheduleConnection copy;
        copy.connection.route = m_in.routing.Nowhere();
        copy.cap = m_call.inside.headCap;
        copy.slots *= m_call.Nodes(); // a slot holds a head's chunk: one of each node
        for (uint32_t member = 0; member < Heads(); ++member)
        {
            const uint32_t place = m_places.At(node, member);
            Program program;
            for (uint32_t i = 0; i < m_call.Nodes(); ++i)
            {
                for (uint32_t j = 0; j < Heads(); ++j)
                {
                    const uint32_t part = m_places.From(node, i, (member + j) % Heads());
                    Primitive step{m_call.gathers ? PrimitiveKind::Recv : PrimitiveKind::Send,
                                   m_places.Relative(place, part)};
                    step.recvFrom = static_cast<uint16_t>(j);
                    step.sendTo = static_cast<uint16_t>(j);
                    program.primitives.push_back(step);
                }
            }
            const uint32_t block = m_wiring.AddBlock(RankOf(node, member), place, program);
            for (uint32_t j = 0; j < Heads(); ++j)
            {
                const uint32_t head = heads[(member + j) % Heads()];
                m_call.gathers ? m_wiring.Join(head, block, copy)
                               : m_wiring.Join(block, head, copy);
            }
        }
    }

    const AlgorithmInputs& m_in;
    const NvlsNetworkPartsCall& m_call;
    ScheduleWiring m_wiring;
    PartPlaces m_places;
    std::vector<CollNetBlocks> m_networks; //!< by place
};

} // namespace

Schedule
BuildNvlsNetworkPartsSchedule(const AlgorithmInputs& in)
{
    const NvlsNetworkPartsCall call(in);
    Schedule schedule = EmptyNvlsSchedule(in, Algorithm::Nvls);
    ChannelSchedule channel;
    PartsWiring(in, call, channel).Wire();
    AddChannels(schedule, channel, in.call.bytes, in.channels, call.chunk, in.communicator.Size());
    return schedule;
}

} // namespace weir
