// SPDX-License-Identifier: GPL-2.0-only

// Datagrams of another client on the ports, queues and buffers that the packets of flows use.

#include "packet-bench.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <stdexcept>

namespace weir
{
namespace
{

constexpr unsigned TRAFFIC_CLASS = 2;

/**
 * Two classes of traffic, one for flows and one for datagrams; packets of 1000 bytes plus 48 of
 * headers.
 */
PacketSpec
TwoClasses()
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    spec.format.controlSize = Bytes(60);
    spec.trafficClasses = 2;
    return spec;
}

/** Supplies datagrams to ports and records their fate. */
class Datagrammer : public DatagramClient, public PassiveEngine
{
  public:
    explicit Datagrammer(PacketBench& bench)
        : m_bench(bench)
    {
        bench.Transport().SetDatagramClient(*this);
    }

    /** Queues @p count datagrams and offers all of them to the first link at time 0. */
    void Add(RouteId route, uint32_t bytes, unsigned count, bool isEcnCapable = false)
    {
        const LinkId link = m_bench.GetRouting().Links(route).front().link;
        for (unsigned i = 0; i < count; i++)
        {
            m_waiting[link.Index()].push_back({route, bytes, m_sent++, isEcnCapable});
        }
        m_bench.Transport().OfferDatagrams(link, TRAFFIC_CLASS, Time());
    }

    std::optional<Datagram> NextDatagram(LinkId link, unsigned trafficClass, Time now) override
    {
        EXPECT_EQ(trafficClass, TRAFFIC_CLASS);
        std::deque<Datagram>& waiting = m_waiting[link.Index()];
        if (waiting.empty())
        {
            return std::nullopt;
        }
        const Datagram next = waiting.front();
        waiting.pop_front();
        return next;
    }

    void OnDatagram(uint64_t handle, bool isMarked, Time now) override
    {
        received[handle] = now;
        marked += isMarked;
    }

    void OnDatagramLost(uint64_t handle, LinkId link, Time now) override
    {
        lost[handle] = link;
    }

    Time NextEventTime() override
    {
        return Time::Infinite();
    }

    void AdvanceTo(Time now) override
    {
    }

    uint64_t Sent() const
    {
        return m_sent;
    }

    std::map<uint64_t, Time> received;
    std::map<uint64_t, LinkId> lost;
    unsigned marked{0};

  private:
    PacketBench& m_bench;
    std::map<uint32_t, std::deque<Datagram>> m_waiting;
    uint64_t m_sent{0};
};

/** Records the events of a port. */
class Notes : public PortObserver
{
  public:
    void OnQueue(LinkId link, unsigned trafficClass, int64_t bytes, Time now) override
    {
        maxQueued = std::max(maxQueued, bytes);
        queued = bytes;
    }

    void OnTransmit(LinkId link, unsigned trafficClass, uint32_t bytes, Time now, Time end) override
    {
        transmitted[trafficClass] += bytes;
        busy = busy + (end - now);
    }

    void OnMark(LinkId link, unsigned trafficClass, Time now) override
    {
        marks++;
    }

    void OnDrop(LinkId link, unsigned trafficClass, uint32_t bytes, Time now) override
    {
        drops++;
    }

    void OnPause(LinkId link, unsigned trafficClass, bool isPaused, Time now) override
    {
        pauses += isPaused;
    }

    int64_t maxQueued{0};
    int64_t queued{0};
    std::map<unsigned, uint64_t> transmitted;
    Time busy;
    uint64_t marks{0};
    uint64_t drops{0};
    uint64_t pauses{0};
};

/** Two hosts on a switch that send to a third, whose link is the bottleneck. */
struct Fork
{
    explicit Fork(const PacketSpec& spec)
    {
        const uint32_t hub = bench.AddSwitch();
        for (uint32_t& host : hosts)
        {
            host = bench.AddHost();
        }
        for (unsigned i = 0; i < 2; i++)
        {
            up[i] = bench.Join(hosts[i], hub, Rate::Gbps(80), Time::Nanoseconds(500));
        }
        down = bench.Join(hub, hosts[2], Rate::Gbps(80), Time::Nanoseconds(500));
        bench.Open(spec);
    }

    PacketBench bench;
    uint32_t hosts[3];
    LinkId up[2];
    LinkId down;
};

/** Store and forward: each link adds the datagram's transmission time and the link's latency. */
TEST(Datagrams, LatencyOfHops)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    const uint32_t first = bench.AddSwitch();
    const uint32_t second = bench.AddSwitch();
    const uint32_t to = bench.AddHost();
    bench.Join(from, first, Rate::Gbps(80), Time::Nanoseconds(300));
    bench.Join(first, second, Rate::Gbps(40), Time::Nanoseconds(700));
    bench.Join(second, to, Rate::Gbps(80), Time::Nanoseconds(100));
    bench.Open(TwoClasses());
    Datagrammer client(bench);
    client.Add(bench.RouteOf(from, to), 1000, 1);
    bench.Run();
    // 1000 bytes at 10, 5 and 10 GB/s take 100, 200 and 100 ns; the latencies add 1100 ns.
    ASSERT_EQ(client.received.size(), 1u);
    EXPECT_EQ(client.received[0].ToPicoseconds(), 1500000);
}

/** Every datagram is either received or lost; losses occur only at the port whose queue is full. */
TEST(Datagrams, FullQueueDrops)
{
    PacketSpec spec = TwoClasses();
    spec.switches.portQueue = Bytes(20000);
    Fork fork(spec);
    Notes notes;
    fork.bench.Network().AddObserver(fork.down.Index(), notes);
    Datagrammer client(fork.bench);
    for (const uint32_t host : {0, 1})
    {
        client.Add(fork.bench.RouteOf(fork.hosts[host], fork.hosts[2]), 1000, 100);
    }
    fork.bench.Run();
    EXPECT_EQ(client.received.size() + client.lost.size(), 200u);
    // Two datagrams arrive while one leaves: the queue grows by one per 100 ns until it holds 20.
    // In each of the remaining 80 intervals one datagram is dropped.
    EXPECT_NEAR(static_cast<double>(client.lost.size()), 100 - 20, 2);
    for (const auto& [handle, link] : client.lost)
    {
        EXPECT_EQ(link, fork.down);
    }
    EXPECT_EQ(notes.drops, client.lost.size());
    EXPECT_EQ(notes.transmitted[TRAFFIC_CLASS], client.received.size() * 1000);
    EXPECT_EQ(notes.busy.ToPicoseconds(), static_cast<int64_t>(client.received.size()) * 100000);
    EXPECT_EQ(notes.maxQueued, 20000);
    EXPECT_EQ(notes.queued, 0);
    EXPECT_EQ(notes.pauses, 0u); // a lossy class is never paused
    EXPECT_EQ(fork.bench.Network().Counters(fork.down.Index()).drops, client.lost.size());
}

/** In a lossless class the same load pauses the senders, and no datagram is lost. */
TEST(Datagrams, LosslessClassPauses)
{
    PacketSpec spec = TwoClasses();
    spec.switches.losslessClasses = 2;
    spec.switches.buffer = Bytes(200000);
    Fork fork(spec);
    Notes notes;
    fork.bench.Network().AddObserver(fork.up[0].Index(), notes);
    Datagrammer client(fork.bench);
    for (const uint32_t host : {0, 1})
    {
        client.Add(fork.bench.RouteOf(fork.hosts[host], fork.hosts[2]), 1000, 1000);
    }
    fork.bench.Run();
    EXPECT_EQ(client.received.size(), 2000u);
    EXPECT_GT(notes.pauses, 0u);
}

/**
 * A port serves its classes round-robin: datagrams of a bytes next to packets of b bytes get a / (a
 * + b) of the link.
 */
TEST(Datagrams, ClassesTakeTurns)
{
    Fork fork(TwoClasses());
    Datagrammer client(fork.bench);
    fork.bench.AddFlow(fork.hosts[0], fork.hosts[2], Bytes(10000000));
    const unsigned count = 5000;
    client.Add(fork.bench.RouteOf(fork.hosts[0], fork.hosts[2]), 524, count);
    fork.bench.Run();
    // Of every 524 + 1048 bytes on the shared first link, 524 belong to a datagram.
    const double uncontended = count * 524 / 10e9;
    EXPECT_NEAR(client.received[count - 1].ToSeconds(), uncontended * (524 + 1048) / 524, 2e-6);
}

/** Marks reach the receiver, and only ECN-capable datagrams are marked. */
TEST(Datagrams, MarksOnlyEcnCapable)
{
    for (const bool isCapable : {false, true})
    {
        PacketSpec spec = TwoClasses();
        spec.switches.markFrom = Bytes(9999);
        spec.switches.markAll = Bytes(9999);
        Fork fork(spec);
        Notes notes;
        fork.bench.Network().AddObserver(fork.down.Index(), notes);
        Datagrammer client(fork.bench);
        for (const uint32_t host : {0, 1})
        {
            client.Add(fork.bench.RouteOf(fork.hosts[host], fork.hosts[2]), 1000, 100, isCapable);
        }
        fork.bench.Run();
        ASSERT_EQ(client.received.size(), 200u);
        // The queue grows by one per departure to about 100, then empties again. All datagrams are
        // marked except those that leave with at most nine behind them.
        if (isCapable)
        {
            EXPECT_NEAR(client.marked, 200 - 2 * 10, 3);
        }
        else
        {
            EXPECT_EQ(client.marked, 0u);
        }
        EXPECT_EQ(notes.marks, client.marked);
    }
}

/** Datagrams on a failed link, or routed to it, are lost there; later ones are rerouted. */
TEST(Datagrams, LinkFails)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    const uint32_t first = bench.AddSwitch();
    const uint32_t last = bench.AddSwitch();
    const uint32_t to = bench.AddHost();
    bench.Join(from, first, Rate::Gbps(80), Time());
    bench.Join(last, to, Rate::Gbps(80), Time());
    for (int i = 0; i < 2; i++)
    {
        const uint32_t middle = bench.AddSwitch();
        bench.Join(first, middle, Rate::Gbps(80), Time());
        bench.Join(middle, last, Rate::Gbps(80), Time());
    }
    bench.Open(TwoClasses());
    Datagrammer client(bench);
    const RouteId route = bench.RouteOf(from, to);
    const LinkId taken = bench.GetRouting().Links(route)[1].link;
    client.Add(route, 1000, 10);
    bench.RunUntil(Time::Nanoseconds(450)); // the fourth datagram is on that link
    bench.Transport().SetLinksUp({taken}, false, Time::Nanoseconds(450));
    bench.Run();
    EXPECT_EQ(client.lost.size() + client.received.size(), 10u);
    ASSERT_EQ(client.lost.size(), 2u); // the fourth, and the fifth, which already had that path
    EXPECT_EQ(client.lost.begin()->first, 3u);
    EXPECT_EQ(client.lost.begin()->second, taken);
}

/** Flows end at the same picosecond with and without an unused class for datagrams. */
TEST(Datagrams, UnusedClassChangesNothing)
{
    std::vector<int64_t> ends[2];
    for (const uint32_t classes : {1, 2})
    {
        PacketSpec spec = TwoClasses();
        spec.trafficClasses = classes;
        spec.switches.buffer = Bytes(100000);
        Fork fork(spec);
        for (int i = 0; i < 8; i++)
        {
            fork.bench.AddFlow(
                fork.hosts[i % 2], fork.hosts[2], Bytes(50000 + 777 * i), Time::Microseconds(i));
        }
        fork.bench.Run();
        for (std::size_t i = 0; i < 8; i++)
        {
            ends[classes - 1].push_back(fork.bench.End(i).ToPicoseconds());
        }
    }
    EXPECT_EQ(ends[0], ends[1]);
}

TEST(Datagrams, Refusals)
{
    Fork fork(TwoClasses());
    const LinkId link = fork.up[0];
    EXPECT_THROW(fork.bench.Transport().OfferDatagrams(link, TRAFFIC_CLASS, Time()),
                 std::invalid_argument); // no client is set
    Datagrammer client(fork.bench);
    EXPECT_THROW(fork.bench.Transport().OfferDatagrams(link, 1, Time()), std::invalid_argument);
    EXPECT_THROW(fork.bench.Transport().OfferDatagrams(link, 3, Time()), std::invalid_argument);
    client.Add(fork.bench.RouteOf(fork.hosts[0], fork.hosts[2]), 1049, 1);
    EXPECT_THROW(fork.bench.Run(), std::invalid_argument); // longer than a packet
}

} // namespace
} // namespace weir
