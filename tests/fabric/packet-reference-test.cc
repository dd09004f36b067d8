// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/static-window.h"
#include "packet-bench.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

namespace weir
{
namespace
{

/**
 * A packet simulator as simple as possible: two events per packet and hop (departure, arrival), one
 * ordered set of events, deques for queues, one record per flow. Buffers are unbounded,
 * acknowledgments precede data, senders have windows, and the queue pairs of a host are served
 * round-robin.
 */
class PlainPackets
{
  public:
    struct Flow
    {
        std::vector<uint32_t> there; //!< link indices
        std::vector<uint32_t> back;
        int64_t bytes;
        int64_t start; //!< ps
    };

    PlainPackets(const Topology& topology,
                 std::vector<Flow> flows,
                 int64_t mtu,
                 int64_t header,
                 int64_t control,
                 int64_t window)
        : m_topology(topology),
          m_flows(std::move(flows)),
          m_ports(topology.LinkCount()),
          m_senders(m_flows.size()),
          m_mtu(mtu),
          m_header(header),
          m_control(control),
          m_window(window),
          m_ends(m_flows.size(), -1)
    {
        for (std::size_t i = 0; i < m_flows.size(); i++)
        {
            m_events.insert({m_flows[i].start, START, static_cast<uint32_t>(i)});
        }
    }

    /** Arrival time of the last byte of each flow, ps. */
    std::vector<int64_t> Run()
    {
        while (!m_events.empty())
        {
            const auto [time, kind, number] = *m_events.begin();
            m_events.erase(m_events.begin());
            m_now = time;
            if (kind == THERE)
            {
                Arrive(number);
            }
            else if (kind == START)
            {
                Ask(m_flows[number].there.front());
            }
            else
            {
                m_ports[number].isBusy = m_ports[number].busyUntil > m_now;
                if (!m_ports[number].isBusy)
                {
                    Transmit(number);
                }
            }
        }
        return m_ends;
    }

  private:
    enum Kind
    {
        THERE,
        START,
        LEFT
    };

    struct Piece
    {
        uint32_t flow;
        bool isAck;
        int64_t payload;
        std::size_t hop;
        int64_t number; //!< of the packet; on acknowledgments, of the next expected packet
    };

    struct Port
    {
        std::deque<Piece> control;
        std::deque<Piece> data;
        std::deque<std::pair<int64_t, Piece>> wire;
        bool isBusy{false};
        int64_t busyUntil{0};
        uint32_t lastFlow{0};
    };

    struct Sender
    {
        int64_t next{0};
        int64_t acked{0};
        int64_t expected{0}; //!< next packet number at the receiver
    };

    int64_t Packets(uint32_t flow) const
    {
        return (m_flows[flow].bytes + m_mtu - 1) / m_mtu;
    }

    int64_t PayloadOf(uint32_t flow, int64_t number) const
    {
        return std::min(m_mtu, m_flows[flow].bytes - number * m_mtu);
    }

    bool MaySend(uint32_t flow) const
    {
        const Sender& sender = m_senders[flow];
        int64_t inFlight = 0;
        for (int64_t i = sender.acked; i < sender.next; i++)
        {
            inFlight += PayloadOf(flow, i);
        }
        return m_flows[flow].start <= m_now && sender.next < Packets(flow) && inFlight < m_window;
    }

    /** A host has data for a port: the port is served after all other events of the instant. */
    void Ask(uint32_t link)
    {
        if (!m_ports[link].isBusy)
        {
            m_events.insert({m_now, LEFT, link});
        }
    }

    void Send(const Piece& piece, uint32_t link)
    {
        (piece.isAck ? m_ports[link].control : m_ports[link].data).push_back(piece);
        if (!m_ports[link].isBusy)
        {
            Transmit(link);
        }
    }

    void Transmit(uint32_t link)
    {
        Port& port = m_ports[link];
        Piece piece;
        if (!port.control.empty())
        {
            piece = port.control.front();
            port.control.pop_front();
        }
        else if (!port.data.empty())
        {
            piece = port.data.front();
            port.data.pop_front();
        }
        else
        {
            // Round robin: the lowest flow above the last one served, else the lowest.
            uint32_t chosen = ~0U;
            for (uint32_t k = 0; k < 2 * m_flows.size() && chosen == ~0U; k++)
            {
                const auto count = static_cast<uint32_t>(m_flows.size());
                const uint32_t i = k % count;
                const bool isTurn = k >= count || i > port.lastFlow;
                if (isTurn && m_flows[i].there.front() == link && MaySend(i))
                {
                    chosen = i;
                }
            }
            if (chosen == ~0U)
            {
                return;
            }
            port.lastFlow = chosen;
            Sender& sender = m_senders[chosen];
            piece = {chosen, false, PayloadOf(chosen, sender.next), 0, sender.next};
            sender.next++;
        }
        const Link& wire = m_topology.GetLink(LinkId(link));
        const auto size = static_cast<double>(piece.isAck ? m_control : piece.payload + m_header);
        const auto time = static_cast<int64_t>(size * (1e12 / wire.rate.ToBytesPerSecond()) + 0.5);
        port.isBusy = true;
        port.busyUntil = m_now + time;
        m_events.insert({port.busyUntil, LEFT, link});
        port.wire.emplace_back(port.busyUntil + wire.latency.ToPicoseconds(), piece);
        m_events.insert({port.wire.front().first, THERE, link});
    }

    void Arrive(uint32_t link)
    {
        Port& port = m_ports[link];
        Piece piece = port.wire.front().second;
        port.wire.pop_front();
        if (!port.wire.empty())
        {
            m_events.insert({port.wire.front().first, THERE, link});
        }
        const Flow& flow = m_flows[piece.flow];
        const std::vector<uint32_t>& path = piece.isAck ? flow.back : flow.there;
        if (++piece.hop < path.size())
        {
            Send(piece, path[piece.hop]);
            return;
        }
        Sender& sender = m_senders[piece.flow];
        if (piece.isAck)
        {
            sender.acked = std::max(sender.acked, piece.number);
            if (MaySend(piece.flow))
            {
                Ask(flow.there.front());
            }
            return;
        }
        sender.expected++;
        Send({piece.flow, true, 0, 0, sender.expected}, flow.back.front());
        if (sender.expected == Packets(piece.flow))
        {
            m_ends[piece.flow] = m_now;
        }
    }

    const Topology& m_topology;
    std::vector<Flow> m_flows;
    std::vector<Port> m_ports;
    std::vector<Sender> m_senders;
    int64_t m_mtu;
    int64_t m_header;
    int64_t m_control;
    int64_t m_window;
    std::vector<int64_t> m_ends;
    std::set<std::tuple<int64_t, int, uint32_t>> m_events;
    int64_t m_now{0};
};

/**
 * Random flows on a leaf-spine network end at the same picosecond in both simulators: 2 x 10^4
 * packets; with --gtest_shuffle --gtest_random_seed=1 --gtest_repeat=50 10^6 packets of different
 * seeds.
 */
TEST(PacketTransport, AgreesWithAPlainSimulatorToThePicosecond)
{
    constexpr uint64_t SEEDS = 12;
    const auto round = static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed());
    for (uint64_t seed = SEEDS * round + 1; seed <= SEEDS * (round + 1); seed++)
    {
        RandomStream random(seed);
        PacketBench bench;
        const bool isRegular = random.OneIn(2); // equal links and sizes: many simultaneous events
        const auto rate = [&] {
            return Rate::Gbps(isRegular ? 100 : 10.0 * static_cast<double>(1 + random.Below(20)));
        };
        const auto latency = [&] {
            return Time::Nanoseconds(isRegular ? 500 : static_cast<double>(1 + random.Below(2000)));
        };
        std::vector<uint32_t> hosts;
        std::vector<uint32_t> leaves;
        for (int i = 0; i < 3; i++)
        {
            leaves.push_back(bench.AddSwitch());
            for (int h = 0; h < 4; h++)
            {
                hosts.push_back(bench.AddHost());
                bench.Join(hosts.back(), leaves.back(), rate(), latency());
            }
        }
        for (int i = 0; i < 2; i++)
        {
            const uint32_t spine = bench.AddSwitch();
            for (const uint32_t leaf : leaves)
            {
                bench.Join(leaf, spine, rate(), latency());
            }
        }
        PacketSpec spec;
        spec.format.mtu = Bytes(1000);
        spec.format.header = 48;
        spec.format.controlSize = Bytes(60);
        spec.switches.marks = false;
        spec.switches.flowControl = FlowControl::None;
        spec.switches.portQueue = Bytes::GiB(1);
        spec.queuePair.retransmissionTimeout = Time::Infinite();
        StaticWindow window;
        window.window = Bytes(isRegular ? 16000 : 9000);
        spec.congestionControl = window;
        bench.Open(spec);
        std::vector<Time> starts;
        for (int i = 0; i < 60; i++)
        {
            starts.push_back(isRegular
                                 ? Time::Microseconds(static_cast<double>(random.Below(4)))
                                 : Time::Picoseconds(static_cast<int64_t>(random.Below(40000000))));
        }
        std::sort(starts.begin(), starts.end());
        std::vector<PlainPackets::Flow> flows;
        for (const Time start : starts)
        {
            const uint32_t from = hosts[random.Below(hosts.size())];
            uint32_t to = from;
            while (to == from)
            {
                to = hosts[random.Below(hosts.size())];
            }
            const auto bytes = static_cast<int64_t>(1 + random.Below(isRegular ? 8 : 60000));
            const Bytes size(isRegular ? bytes * 5000 : bytes);
            const std::size_t number = bench.AddFlow(from, to, size, start);
            RouteRequest request;
            request.source = request.outNic = DeviceId(from);
            request.destination = request.inNic = DeviceId(to);
            request.sourcePort = static_cast<uint16_t>(number);
            PlainPackets::Flow flow;
            for (const LinkId link : bench.GetRouting().FindHops(request))
            {
                flow.there.push_back(link.Index());
                flow.back.insert(flow.back.begin(),
                                 bench.GetTopology().GetLink(link).opposite.Index());
            }
            flow.bytes = size.Count();
            flow.start = start.ToPicoseconds();
            flows.push_back(flow);
        }
        PlainPackets plain(bench.GetTopology(), flows, 1000, 48, 60, isRegular ? 16000 : 9000);
        const std::vector<int64_t> expected = plain.Run();
        bench.Run();
        for (std::size_t i = 0; i < flows.size(); i++)
        {
            ASSERT_EQ(bench.End(i).ToPicoseconds(), expected[i])
                << "seed " << seed << ", flow " << i;
        }
    }
}

} // namespace
} // namespace weir
