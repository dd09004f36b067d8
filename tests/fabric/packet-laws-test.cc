// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"
#include "fabric/transport/packet/congestion/nscc.h"
#include "fabric/transport/packet/congestion/rccc.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "packet-bench.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <deque>
#include <fstream>
#include <numeric>
#include <string>
#include <unistd.h>

namespace weir
{
namespace
{

/**
 * The runs of m3 (SIGCOMM 2024) state what each of their flows takes alone over two links of 1 us
 * at 10 Gb/s, in nanoseconds. Where a packet takes a whole number of them, the HPCC simulator's
 * clock takes one less (PacketSpec::WholeTime), which flows of one packet are not stated with.
 */
TEST(PacketLaws, FlowsAloneTakeWhatM3States)
{
    PacketBench bench;
    std::vector<uint32_t> hosts;
    for (int i = 0; i < 3; i++)
    {
        hosts.push_back(bench.AddHost());
    }
    const uint32_t middle = bench.AddSwitch();
    for (int i = 0; i < 3; i++)
    {
        bench.Join(hosts[i], middle, Rate::Gbps(i == 1 ? 100000 : 10), Time::Microseconds(1));
    }
    PacketSpec spec = PlainPackets();
    spec.clock = Time::Nanoseconds(1);
    spec.queuePair.maxRate = Rate::Gbps(10);
    spec.switches.flowControl = FlowControl::None;
    spec.switches.portQueue = Bytes::GiB(1);
    bench.Open(spec);
    std::ifstream file(std::string(WEIR_SOURCE_DIR) + "/validation/m3-2024/flows.csv");
    std::string line;
    std::vector<int64_t> ideals;
    Time start;
    for (std::getline(file, line); std::getline(file, line);)
    {
        unsigned from = 0;
        unsigned to = 0;
        long long size = 0;
        long long begin = 0;
        long long taken = 0;
        long long ideal = 0;
        const std::size_t comma = line.find(',');
        ASSERT_EQ(std::sscanf(line.c_str() + comma,
                              ",%u,%u,%lld,%lld,%lld,%lld",
                              &from,
                              &to,
                              &size,
                              &begin,
                              &taken,
                              &ideal),
                  6);
        if (ideals.size() % 4 == 0) // a queue pair each: a quarter is enough
        {
            bench.AddFlow(hosts[from], hosts[to], Bytes(size), start);
            start = start + Time::Nanoseconds(static_cast<double>(ideal) + 10000);
        }
        ideals.push_back(ideal);
    }
    ASSERT_GT(ideals.size(), 10000u);
    bench.Run();
    for (std::size_t i = 0; 4 * i < ideals.size(); i++)
    {
        const auto taken = static_cast<double>(bench.Duration(i).ToPicoseconds()) / 1000;
        ASSERT_NEAR(taken, static_cast<double>(ideals[4 * i]), 2) << "row " << 4 * i;
    }
}

/** Packets of a port with the queue that decided on their marks, and the one that they left. */
class MarkWatch : public PortObserver
{
  public:
    struct Seen
    {
        double queued; //!< bytes
        bool isMarked;
    };

    MarkWatch(PacketBench& bench, LinkId link, MarkingPlace place)
        : m_bench(bench),
          m_place(place)
    {
        bench.Network().AddObserver(link.Index(), *this);
    }

    void OnMark(LinkId, unsigned, Time) override
    {
        m_isMarked = true;
    }

    void OnQueue(LinkId, unsigned, int64_t bytes, Time) override
    {
        if (bytes > m_bytes) // one has come
        {
            atEnqueue.push_back({static_cast<double>(m_bytes), m_isMarked});
            m_marks.push_back(m_isMarked);
            m_isMarked = false;
        }
        m_bytes = bytes;
    }

    void OnTransmit(LinkId link, unsigned, uint32_t, Time, Time) override
    {
        const bool isMarked =
            m_place == MarkingPlace::Enqueue ? m_marks.front() : std::exchange(m_isMarked, false);
        m_marks.pop_front();
        const int64_t left = m_bench.Network().QueuedBytes(link.Index());
        atDequeue.push_back({static_cast<double>(left), isMarked});
    }

    void OnDrop(LinkId, unsigned, uint32_t, Time) override
    {
    }

    void OnPause(LinkId, unsigned, bool, Time) override
    {
    }

    std::vector<Seen> atEnqueue;
    std::vector<Seen> atDequeue;

  private:
    PacketBench& m_bench;
    MarkingPlace m_place;
    int64_t m_bytes{0};
    bool m_isMarked{false};
    std::deque<bool> m_marks; //!< of packets in the queue
};

constexpr double MARK_FROM = 50000;
constexpr double MARK_ALL = 400000;
constexpr double MARK_MOST = 0.5;

double
MarkProbability(double queued)
{
    return queued <= MARK_FROM  ? 0
           : queued <= MARK_ALL ? MARK_MOST * (queued - MARK_FROM) / (MARK_ALL - MARK_FROM)
                                : 1;
}

/** Of marks against their probability, in bins of 20 kB of the queue on the ramp. */
double
MarkStatistic(const std::vector<MarkWatch::Seen>& packets, std::size_t& bins)
{
    struct Bin
    {
        double marks{0};
        double expected{0};
        double variance{0};
    };

    std::vector<Bin> all(static_cast<std::size_t>((MARK_ALL - MARK_FROM) / 20000) + 1);
    for (const MarkWatch::Seen& each : packets)
    {
        if (each.queued > MARK_FROM && each.queued <= MARK_ALL)
        {
            Bin& bin = all[static_cast<std::size_t>((each.queued - MARK_FROM) / 20000)];
            const double p = MarkProbability(each.queued);
            bin.marks += each.isMarked ? 1 : 0;
            bin.expected += p;
            bin.variance += p * (1 - p);
        }
    }
    double statistic = 0;
    bins = 0;
    for (const Bin& bin : all)
    {
        if (bin.variance > 10) // enough to be normal
        {
            statistic += std::pow(bin.marks - bin.expected, 2) / bin.variance;
            bins++;
        }
    }
    return statistic;
}

/**
 * Marks are drawn with the probability of the queue that a packet leaves behind, or finds: none up
 * to Kmin, Pmax (q - Kmin) / (Kmax - Kmin) up to Kmax, then all. What is drawn by one queue does
 * not pass as drawn by the other.
 */
TEST(PacketLaws, MarksAreDrawnByTheQueueOfTheirPlace)
{
    for (const MarkingPlace place : {MarkingPlace::Dequeue, MarkingPlace::Enqueue})
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
        const uint32_t sink = bench.AddHost();
        std::vector<uint32_t> hosts;
        for (int i = 0; i < 6; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
        const LinkId port = bench.Join(middle, sink, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.switches.marks = true;
        spec.switches.markAt = place;
        spec.switches.markFrom = Bytes(static_cast<int64_t>(MARK_FROM));
        spec.switches.markAll = Bytes(static_cast<int64_t>(MARK_ALL));
        spec.switches.markProbability = MARK_MOST;
        bench.Open(spec);
        MarkWatch watch(bench, port, place);
        RandomStream random(7);
        int64_t start = 0;
        for (int i = 0; i < 1500; i++) // queues that rise and fall
        {
            start += static_cast<int64_t>(random.Below(20000000));
            bench.AddFlow(hosts[random.Below(hosts.size())],
                          sink,
                          Bytes(static_cast<int64_t>(1000 + random.Below(230000))),
                          Time::Picoseconds(start));
        }
        bench.Run();
        const bool isDequeue = place == MarkingPlace::Dequeue;
        const auto& own = isDequeue ? watch.atDequeue : watch.atEnqueue;
        const auto& other = isDequeue ? watch.atEnqueue : watch.atDequeue;
        ASSERT_GT(own.size(), 100000u);
        for (const MarkWatch::Seen& each : own)
        {
            const double p = MarkProbability(each.queued);
            ASSERT_TRUE((p > 0 || !each.isMarked) && (p < 1 || each.isMarked)) << each.queued;
        }
        std::size_t bins = 0;
        const double statistic = MarkStatistic(own, bins);
        ASSERT_GT(bins, 12u);
        const boost::math::chi_squared distribution(static_cast<double>(bins));
        const double bound = boost::math::quantile(boost::math::complement(distribution, 1 / 3e6));
        EXPECT_LT(statistic, bound);
        if (!isDequeue) // marks of the other place are known packet by packet here
        {
            EXPECT_GT(MarkStatistic(other, bins), bound);
        }
    }
}

/**
 * A link of no latency holds one packet, the one in transmission. Failing for an instant it loses
 * that one, whichever of the flow it is: go-back-N sends again what was under way behind it, a
 * window at most; selective repeat sends that one.
 */
TEST(PacketLaws, OneLossWastesAWindowOrAPacketAtEachPosition)
{
    constexpr int PACKETS = 60;
    constexpr int WINDOW = 20;
    for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
    {
        for (int lost = 0; lost < PACKETS; lost++)
        {
            PacketBench bench;
            const uint32_t from = bench.AddHost();
            const uint32_t middle = bench.AddSwitch();
            const uint32_t to = bench.AddHost();
            bench.Join(from, middle, Rate::Gbps(80), Time::Microseconds(1));
            const LinkId last = bench.Join(middle, to, Rate::Gbps(80), Time());
            PacketSpec spec = PlainPackets();
            spec.queuePair.recovery = recovery;
            spec.queuePair.ackEvery = 1;
            spec.queuePair.retransmissionTimeout = Time::Microseconds(20);
            StaticWindow window;
            window.window = Bytes(WINDOW * 1000);
            spec.congestionControl = window;
            bench.Open(spec);
            const std::size_t flow = bench.AddFlow(from, to, Bytes(PACKETS * 1000));
            bench.RunUntil(Time());
            while (bench.Network().Counters(last.Index()).packets <= static_cast<uint64_t>(lost))
            {
                bench.RunUntil(bench.Any().NextEventTime());
            }
            const int64_t sent = bench.Network().BusyUntil(last.Index());
            const Time now = Time::Picoseconds(sent - 50000); // half of its 104.8 ns are over
            bench.RunUntil(now);
            bench.Transport().SetLinksUp({last}, false, now);
            bench.Transport().SetLinksUp({last}, true, now);
            bench.Run();
            const QueuePairCounters& counters = bench.Transport().GetQueuePairs().Counters();
            EXPECT_FALSE(bench.Duration(flow).IsInfinite());
            ASSERT_EQ(counters.lost, 1u) << lost;
            if (recovery == LossRecovery::Selective)
            {
                EXPECT_EQ(counters.retransmissions, 1u) << lost;
            }
            else
            {
                const int behind = std::min(WINDOW, PACKETS - lost);
                EXPECT_LE(counters.retransmissions, static_cast<uint64_t>(behind)) << lost;
                // All but those that the request to go back came before.
                EXPECT_GE(counters.retransmissions, static_cast<uint64_t>(std::max(1, behind - 1)))
                    << lost;
            }
        }
    }
}

/** Credits of packets that a failed link lost come back: afterwards a link is as fast as before. */
TEST(PacketLaws, CreditsOfLostPacketsComeBack)
{
    double bytes[2];
    for (const bool fails : {false, true})
    {
        PacketBench bench;
        const uint32_t from = bench.AddHost();
        const uint32_t middle = bench.AddSwitch();
        const uint32_t to = bench.AddHost();
        const LinkId first = bench.Join(from, middle, Rate::Gbps(80), Time::Microseconds(1));
        const LinkId second = bench.Join(middle, to, Rate::Gbps(80), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.switches.flowControl = FlowControl::Credits;
        spec.switches.creditBuffer = Bytes(16768);
        spec.queuePair.retransmissionTimeout = Time::Microseconds(50);
        bench.Open(spec);
        bench.AddFlow(from, to, Bytes(400000000));
        for (int i = 1; i <= 40; i++)
        {
            const Time now = Time::Microseconds(10 * i) + Time::Nanoseconds(37 * i);
            bench.RunUntil(now);
            if (fails)
            {
                bench.Transport().SetLinksUp({first, second}, false, now);
                bench.Transport().SetLinksUp({first, second}, true, now);
            }
        }
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost > 40, fails);
        bench.RunUntil(Time::Microseconds(600));
        const uint64_t before = bench.Network().Counters(second.Index()).bytes;
        bench.RunUntil(Time::Microseconds(1600));
        bytes[fails] = static_cast<double>(bench.Network().Counters(second.Index()).bytes - before);
    }
    EXPECT_NEAR(bytes[1], bytes[0], 2 * 1048);
    // 16 packets of 17 units of 64 bytes over their round trip, 2 us and a transmission.
    const double units = 16768 / 64;
    const double packets = std::floor(units / 17);
    EXPECT_NEAR(bytes[0], packets * 1048 * 1e-3 / 2.1048e-6, 3 * 1048);
}

/**
 * A device reads through PCIe with as many bytes under way as its tags allow, tags times the size
 * of a read: min(C, tags MRRS / round trip). So does a receiver with its credits: without scaled
 * flow control at most 2047 of 16 bytes, or 127 packets.
 */
TEST(PacketLaws, PcieCarriesWhatIsOutstandingOverTheRoundTrip)
{
    constexpr int64_t READ = 512;
    for (const int64_t outstanding :
         {8 * READ, 32 * READ, int64_t{2047 * 16}, 64 * READ, int64_t{127} * READ, 256 * READ})
    {
        PacketBench bench;
        const uint32_t memory = bench.AddHost();
        const uint32_t device = bench.AddHost();
        const LinkId link =
            bench.Join(memory, device, Rate::GBps(32), Time::Nanoseconds(500), LinkKind::Pcie);
        PacketSpec spec = PlainPackets();
        spec.format.mtu = Bytes(READ);
        spec.format.header = 0;
        spec.nodeLinks.burst = Bytes(READ);
        spec.nodeLinks.pcieBuffer = Bytes(outstanding);
        spec.switches.creditUnit = Bytes(16);
        bench.Open(spec);
        bench.AddFlow(bench.GetRouting().AddPinned({link}), Bytes(64000000));
        bench.RunUntil(Time::Microseconds(100));
        const uint64_t before = bench.Network().Counters(link.Index()).bytes;
        bench.RunUntil(Time::Microseconds(600));
        const double carried =
            static_cast<double>(bench.Network().Counters(link.Index()).bytes - before);
        const double roundTrip = 2 * 500e-9 + READ / 32e9;
        const auto whole = static_cast<double>(outstanding / READ * READ);
        const double expected = std::min(32e9, whole / roundTrip) * 500e-6;
        EXPECT_NEAR(carried, expected, 0.01 * expected) << outstanding;
    }
}

/** Leaves of as many hosts as there are spines, links of 400 Gb/s and 1 us. */
struct LeafSpineBench
{
    LeafSpineBench(int leaves, int hostsOfLeaf, const PacketSpec& spec)
    {
        std::vector<uint32_t> switches;
        for (int i = 0; i < leaves; i++)
        {
            switches.push_back(bench.AddSwitch());
            for (int h = 0; h < hostsOfLeaf; h++)
            {
                hosts.push_back(bench.AddHost());
                bench.Join(hosts.back(), switches.back(), Rate::Gbps(400), Time::Microseconds(1));
            }
        }
        for (int i = 0; i < hostsOfLeaf; i++)
        {
            const uint32_t spine = bench.AddSwitch();
            for (const uint32_t leaf : switches)
            {
                bench.Join(leaf, spine, Rate::Gbps(400), Time::Microseconds(1));
            }
        }
        bench.Open(spec, SprayRouting());
    }

    PacketBench bench;
    std::vector<uint32_t> hosts;
};

/** As the Ultra Ethernet Consortium's htsim has them at 400 Gb/s. */
PacketSpec
UltraEthernet(const Polymorphic<CongestionControl>& control)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(4086);
    spec.format.header = 64;
    spec.format.controlSize = Bytes(64);
    spec.queuePair.recovery = LossRecovery::Selective;
    spec.queuePair.ackEvery = 4;
    spec.queuePair.reordering = 100000;
    spec.queuePair.paths = 128;
    spec.queuePair.flowEnd = FlowEnd::Acknowledged;
    spec.queuePair.retransmissionTimeout = Time::Microseconds(100);
    spec.switches.flowControl = FlowControl::None;
    spec.switches.trim = true;
    spec.switches.trimTail = 0.5;
    spec.switches.buffer = Bytes::GiB(1);
    spec.switches.portQueue = Bytes(415000);
    spec.switches.markFrom = Bytes(103750);
    spec.switches.markAll = Bytes(311250);
    spec.switches.markProbability = 1;
    spec.congestionControl = control;
    return spec;
}

/** Of @p bytes on a link of 400 Gb/s, @p hops of 1 us there and of an acknowledgment back, us. */
double
LeastTime(double bytes, double hops)
{
    const double packets = std::ceil(bytes / 4086);
    constexpr double PER_BYTE = 8.0 / 400e3;
    return ((bytes + 64 * packets) + (hops - 1) * 4150 + hops * 64) * PER_BYTE + 2 * hops;
}

/**
 * Of 128 source ports that a sender varies, each of 8 uplinks has those that hash to it, n of them:
 * of 50 rounds 50 n packets. n is a draw of a binomial, whose Pearson statistic over the uplinks is
 * one of chi-square with 7 degrees of freedom: 99.8 % are between 0.6 and 24.3. Where paths are
 * distinct, each uplink has an eighth of all packets, and a packet.
 */
TEST(PacketLaws, ObliviousSprayingLoadsLinksAsPortsHash)
{
    constexpr int ROUNDS = 50;
    for (const bool isDistinct : {false, true})
    {
        PacketSpec spec = UltraEthernet(Rccc());
        spec.queuePair.paths = 128;
        spec.queuePair.distinctPaths = isDistinct;
        LeafSpineBench net(2, 8, spec);
        net.bench.AddFlow(net.hosts.front(), net.hosts.back(), Bytes(ROUNDS * 128 * 4086));
        net.bench.Run();
        double pearson = 0;
        int uplinks = 0;
        const Topology& topology = net.bench.GetTopology();
        for (const LinkId link : topology.LinksFrom(DeviceId(0)))
        {
            const uint64_t packets = net.bench.Network().Counters(link.Index()).packets;
            if (topology.GetDevice(topology.GetLink(link).to).kind == DeviceKind::Host)
            {
                continue;
            }
            uplinks++;
            if (isDistinct)
            {
                EXPECT_NEAR(static_cast<double>(packets), ROUNDS * 16, 1);
            }
            else
            {
                EXPECT_EQ(packets % ROUNDS, 0u);
                pearson += std::pow(static_cast<double>(packets) / ROUNDS - 16, 2) / 16;
            }
        }
        EXPECT_EQ(uplinks, 8);
        EXPECT_TRUE(isDistinct || (pearson > 0.6 && pearson < 24.3)) << pearson;
    }
}

/**
 * An uplink with a hundredth of the others' rate trims nearly all that is sent by it once its queue
 * is full, of 100 packets. Taken in its turns it has an eighth of the packets. Passed over for what
 * it trims it has n turns, those of a round trip, until the answers come, and misses the next 15:
 * n / (n + 15) of its turns. It has less where paths that have just answered without a mark go
 * first, since then fewer packets look for a path in turns.
 */
TEST(PacketLaws, SprayedPacketsAvoidPathsThatTrim)
{
    constexpr int PACKETS = 4000;
    const auto partOf = [](PathChoice choice) {
        PacketSpec spec = UltraEthernet(Rccc());
        spec.queuePair.ackBitmap = true;
        spec.queuePair.pathChoice = choice;
        LeafSpineBench net(2, 8, spec);
        const Topology& topology = net.bench.GetTopology();
        LinkId slow;
        for (const LinkId link : topology.LinksFrom(DeviceId(0)))
        {
            const Device& to = topology.GetDevice(topology.GetLink(link).to);
            slow = to.kind == DeviceKind::Host ? slow : link;
        }
        net.bench.Any().SetLinkRate(slow, Rate::Gbps(4), Time());
        net.bench.AddFlow(net.hosts.front(), net.hosts.back(), Bytes(PACKETS * 4086));
        net.bench.Run();
        EXPECT_FALSE(net.bench.Duration(0).IsInfinite());
        const auto sent = net.bench.Transport().GetQueuePairs().Counters().dataPackets;
        return static_cast<double>(net.bench.Network().Counters(slow.Index()).packets) /
               static_cast<double>(sent);
    };
    constexpr double QUEUE = 415000.0 / 4150;
    constexpr double ROUND_TRIP = 8 + 4 * (4150 + 64) * 8 / 400e3; // us
    constexpr double TURNS = ROUND_TRIP / (8 * 4150 * 8 / 400e3);
    constexpr double TAKEN = TURNS / (TURNS + SprayPathSelector::MAX_PENALTY);
    constexpr double AVOIDED = (QUEUE + (PACKETS - 8 * QUEUE) * TAKEN / (7 + TAKEN)) / PACKETS;
    const double avoided = partOf(PathChoice::Avoid);
    EXPECT_NEAR(partOf(PathChoice::Turns), 1.0 / 8, 0.001);
    EXPECT_NEAR(avoided, AVOIDED, 0.15 * AVOIDED);
    EXPECT_LT(partOf(PathChoice::Recycle), 0.9 / 8);
    EXPECT_LT(partOf(PathChoice::Mixed), 0.9 * avoided);
}

/** Two hosts at 100 Gb/s, and between them two switches joined by a path for each latency. */
struct UnequalPaths
{
    /** @param latencies us, of each of a path's two links */
    UnequalPaths(PacketBench& bench, const std::vector<double>& latencies)
        : from(bench.AddHost()),
          to(bench.AddHost())
    {
        const uint32_t first = bench.AddSwitch();
        const uint32_t last = bench.AddSwitch();
        bench.Join(from, first, Rate::Gbps(100), Time::Microseconds(1));
        bench.Join(last, to, Rate::Gbps(100), Time::Microseconds(1));
        for (const double us : latencies)
        {
            const uint32_t middle = bench.AddSwitch();
            bench.Join(first, middle, Rate::Gbps(100), Time::Microseconds(us));
            bench.Join(middle, last, Rate::Gbps(100), Time::Microseconds(us));
        }
    }

    uint32_t from;
    uint32_t to;
};

/**
 * Of two paths one is 4 us longer, which is the time of 48 packets: every other packet comes out of
 * order. Each of these is answered, unless acknowledgments say which of 64 packets have come: then
 * each fourth packet is, and once all are there that the last one came before. None is held lost.
 */
TEST(PacketLaws, PacketsOutOfOrderShareAcknowledgments)
{
    constexpr int PACKETS = 400;
    for (const bool hasBitmap : {false, true})
    {
        PacketBench bench;
        const UnequalPaths paths(bench, {1, 3});
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = LossRecovery::Selective;
        spec.queuePair.reordering = 64;
        spec.queuePair.ackEvery = 4;
        spec.queuePair.ackDelay = Time::Milliseconds(1);
        spec.queuePair.ackBitmap = hasBitmap;
        spec.queuePair.flowEnd = FlowEnd::Acknowledged;
        bench.Open(spec, SprayRouting());
        bench.AddFlow(paths.from, paths.to, Bytes(PACKETS * 1000));
        bench.Run();
        EXPECT_LT(bench.Duration(0), Time::Microseconds(60));
        const QueuePairCounters& counters = bench.Transport().GetQueuePairs().Counters();
        EXPECT_EQ(counters.retransmissions, 0u);
        EXPECT_GE(counters.acknowledgments, hasBitmap ? PACKETS / 4u : PACKETS / 2u - 24);
        EXPECT_LE(counters.acknowledgments, hasBitmap ? PACKETS / 4u + 2 : PACKETS);
    }
}

/**
 * Three paths of which each is 100 packets longer than the one before: where the nearest packets
 * that are missing are those on the longest, 64 packets from them on are not those that come. All
 * the same an answer to four packets tells of each of them: a window of 260 holds them no longer
 * than the three packets (0.25 us) that they may wait for, of which half is 0.8 % of the round
 * trip, 16 us on the average.
 */
TEST(PacketLaws, SharedAcknowledgmentsTellOfAllThatCame)
{
    const auto timeBy = [](uint32_t ackEvery) {
        PacketBench bench;
        constexpr double STEP = 100 * 1048 * 8 / 100e3 / 2; // us, of each of two links
        const UnequalPaths paths(bench, {1, 1 + STEP, 1 + 2 * STEP});
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = LossRecovery::Selective;
        spec.queuePair.reordering = 10000;
        spec.queuePair.ackEvery = ackEvery;
        spec.queuePair.ackBitmap = true;
        spec.queuePair.window = Bytes(260'000);
        spec.queuePair.flowEnd = FlowEnd::Acknowledged;
        bench.Open(spec, SprayRouting());
        bench.AddFlow(paths.from, paths.to, Bytes(10'000'000));
        bench.Run();
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().retransmissions, 0u);
        return bench.Duration(0).ToMicroseconds();
    };
    const double each = timeBy(1);
    EXPECT_NEAR(timeBy(4), each, 0.008 * each);
}

/**
 * A sender that sprays has the rate of all its paths, and the round trip of the shortest, whichever
 * path it takes first. One of eight uplinks at a tenth of the rate leaves them 7.1 times what the
 * host's own link has; where each has a sixteenth of it, they have half of it together.
 */
TEST(PacketLaws, SprayingSendersKnowTheRateOfAllTheirPaths)
{
    constexpr double ROUND_TRIP = 8 + 4 * (4150 + 64) * 8 / 400e3; // us
    for (const bool isOneSlow : {true, false})
    {
        PacketSpec spec = UltraEthernet(Nscc());
        LeafSpineBench net(2, 8, spec);
        const Topology& topology = net.bench.GetTopology();
        int slowed = 0;
        for (const LinkId link : topology.LinksFrom(DeviceId(0)))
        {
            const Device& to = topology.GetDevice(topology.GetLink(link).to);
            if (to.kind != DeviceKind::Host && (!isOneSlow || slowed == 0))
            {
                net.bench.Any().SetLinkRate(link, Rate::Gbps(isOneSlow ? 40 : 25), Time());
                slowed++;
            }
        }
        for (int i = 0; i < 8; i++)
        {
            net.bench.AddFlow(net.hosts[i], net.hosts[8 + i], Bytes(4086));
        }
        net.bench.Run();
        EXPECT_EQ(slowed, isOneSlow ? 1 : 8);
        for (uint32_t pair = 0; pair < 8; pair++)
        {
            const ConnectionFacts& facts = net.bench.Transport().GetQueuePairs().FactsOf(pair);
            EXPECT_NEAR(facts.bottleneckRate, (isOneSlow ? 400e9 : 200e9) / 8, 1);
            const double slower = isOneSlow ? 0 : (4150 + 64) * 8 * (1 / 25e3 - 1 / 400e3);
            EXPECT_NEAR(facts.baseRtt.ToMicroseconds(), ROUND_TRIP + slower, 1e-3);
        }
    }
}

/** Sprayed, a permutation is as fast as one flow alone but for a tenth (8 MB on 64 hosts). */
TEST(PacketLaws, SprayedPermutationsAreNearTheirBound)
{
    for (const auto& control :
         {Polymorphic<CongestionControl>(Rccc()), Polymorphic<CongestionControl>(Nscc())})
    {
        LeafSpineBench net(8, 8, UltraEthernet(control));
        RandomStream random(3);
        std::vector<std::size_t> to(net.hosts.size());
        std::iota(to.begin(), to.end(), 0);
        for (std::size_t i = to.size() - 1; i > 0; i--) // Sattolo: one cycle, nobody to itself
        {
            std::swap(to[i], to[random.Below(i)]);
        }
        for (std::size_t i = 0; i < to.size(); i++)
        {
            net.bench.AddFlow(net.hosts[i], net.hosts[to[i]], Bytes(8000000));
        }
        net.bench.Run();
        double last = 0;
        for (std::size_t i = 0; i < to.size(); i++)
        {
            const double least = LeastTime(8e6, static_cast<double>(net.bench.Hops(i)));
            EXPECT_GE(net.bench.Duration(i).ToMicroseconds(), least - 1e-3) << i;
            last = std::max(last, net.bench.Duration(i).ToMicroseconds());
        }
        EXPECT_LE(last, 1.10 * LeastTime(8e6, 4)) << control->Name();
    }
}

/**
 * An incast takes what its bytes do on the last link, and a path's latency, at least; with a clock
 * of credits at the receiver 2 % more at most.
 */
TEST(PacketLaws, IncastsByReceiverCreditAreNearTheirBound)
{
    struct Case
    {
        unsigned senders;
        double bytes;
        double spread; //!< us over which they start
    };

    constexpr double MIB = 1048576;
    for (const Case& each : {Case{2, MIB, 0},
                             Case{2, 16 * MIB, 0},
                             Case{8, MIB, 0},
                             Case{8, MIB, 16},
                             Case{8, 16 * MIB, 0},
                             Case{32, MIB, 0},
                             Case{32, MIB, 16},
                             Case{32, 4 * MIB, 0},
                             Case{56, MIB, 0}})
    {
        for (const auto& control :
             {Polymorphic<CongestionControl>(Rccc()), Polymorphic<CongestionControl>(Nscc())})
        {
            LeafSpineBench net(8, 8, UltraEthernet(control));
            for (unsigned i = 0; i < each.senders; i++)
            {
                net.bench.AddFlow(net.hosts[8 + i],
                                  net.hosts[0],
                                  Bytes(static_cast<int64_t>(each.bytes)),
                                  Time::Microseconds(each.spread * i / each.senders));
            }
            net.bench.Run();
            double last = 0;
            for (unsigned i = 0; i < each.senders; i++)
            {
                last = std::max(last, net.bench.End(i).ToMicroseconds());
            }
            const double packets = std::ceil(each.bytes / 4086);
            const double others = (each.senders - 1) * (each.bytes + 64 * packets) * 8 / 400e3;
            const double least = LeastTime(each.bytes, 4) + others;
            EXPECT_GE(last, least - 1e-3);
            if (std::string(control->Name()) == "rccc")
            {
                EXPECT_LE(last, 1.02 * (least + each.spread));
            }
        }
    }
}

/**
 * Two hosts send to a third at the rate of its link, in step: of each two packets that come at one
 * instant a full queue has room for one. If the one that comes is always trimmed, the host that
 * is first each time has all of the link, and ends in half of what both take. By chance they share
 * it, and end together.
 */
TEST(PacketLaws, TrimmingByChanceBreaksTheStep)
{
    for (const double tail : {0.0, 0.5})
    {
        PacketBench bench;
        const uint32_t to = bench.AddHost();
        const uint32_t middle = bench.AddSwitch();
        bench.Join(middle, to, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = LossRecovery::Selective;
        spec.queuePair.reordering = 100000;
        spec.switches.flowControl = FlowControl::None;
        spec.switches.portQueue = Bytes(20 * 1048);
        spec.switches.trim = true;
        spec.switches.trimTail = tail;
        std::vector<uint32_t> from;
        for (int i = 0; i < 2; i++)
        {
            from.push_back(bench.AddHost());
            bench.Join(from.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
        bench.Open(spec);
        constexpr int64_t PACKETS = 2000;
        for (const uint32_t host : from)
        {
            bench.AddFlow(host, to, Bytes(1000 * PACKETS));
        }
        bench.Run();
        const auto [first, last] = std::minmax({bench.Duration(0), bench.Duration(1)});
        const double least = 2 * PACKETS * 1048 * 8 / 100e3; // us, both
        EXPECT_GE(last.ToMicroseconds(), least);
        if (tail == 0)
        {
            EXPECT_LE(first.ToMicroseconds(), 0.6 * least);
        }
        else
        {
            EXPECT_GE(first.ToMicroseconds(), 0.9 * least);
        }
    }
}

/**
 * A hundred hosts send a packet each that comes to a switch at the same instant. One leaves at
 * once, ten have room in the queue, the other 89 are trimmed. Of their headers as many as
 * controlQueue holds wait, the others are dropped, and sent again after a timeout; so are headers
 * beyond twice the queue where controlQueue is 0: beyond 2 * 10 480 / 60, 349 of them, which is
 * none here.
 */
TEST(PacketLaws, HeadersBeyondTheirQueueAreDropped)
{
    constexpr int HOSTS = 100;
    constexpr uint64_t TRIMMED = HOSTS - 1 - 10;
    for (const uint64_t room : {uint64_t{0}, uint64_t{40}})
    {
        PacketBench bench;
        const uint32_t to = bench.AddHost();
        const uint32_t middle = bench.AddSwitch();
        const LinkId port = bench.Join(middle, to, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = LossRecovery::Selective;
        spec.switches.flowControl = FlowControl::None;
        spec.switches.portQueue = Bytes(10 * 1048);
        spec.switches.trim = true;
        spec.switches.controlQueue = Bytes(static_cast<int64_t>(room) * 60);
        std::vector<uint32_t> from;
        for (int i = 0; i < HOSTS; i++)
        {
            from.push_back(bench.AddHost());
            bench.Join(from.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
        bench.Open(spec);
        for (const uint32_t host : from)
        {
            bench.AddFlow(host, to, Bytes(1000));
        }
        bench.RunUntil(Time::Microseconds(2)); // the first have come, nothing is sent again
        EXPECT_EQ(bench.Network().Counters(port.Index()).trims, TRIMMED);
        EXPECT_EQ(bench.Network().Counters(port.Index()).drops, room > 0 ? TRIMMED - room : 0);
        bench.Run();
        uint64_t late = 0;
        for (int i = 0; i < HOSTS; i++)
        {
            late += bench.Duration(i) > spec.queuePair.retransmissionTimeout ? 1 : 0;
        }
        EXPECT_GE(late, room > 0 ? TRIMMED - room : 0);
    }
}

/**
 * A hundred hosts that nothing slows down send to one: each packet that finds no room is trimmed,
 * and its header has it sent again. 99 headers of 60 bytes for each packet of 1048 take more than
 * the link's rate, so that data would never have it where headers always go first; if a packet of
 * data goes after each ten of them, it has 1048 / (1048 + 600) of the link, and no more time is
 * needed than that says, and a timeout for each time that all packets of a host and their headers
 * are lost.
 */
TEST(PacketLaws, HeadersLeaveTurnsToData)
{
    constexpr int HOSTS = 100;
    constexpr int64_t PACKETS = 50;
    PacketBench bench;
    const uint32_t to = bench.AddHost();
    const uint32_t middle = bench.AddSwitch();
    bench.Join(middle, to, Rate::Gbps(100), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.queuePair.recovery = LossRecovery::Selective;
    spec.queuePair.reordering = 100000;
    spec.queuePair.retransmissionTimeout = Time::Microseconds(100);
    spec.switches.flowControl = FlowControl::None;
    spec.switches.portQueue = Bytes(40 * 1048);
    spec.switches.trim = true;
    spec.switches.controlRun = 10;
    std::vector<uint32_t> from;
    for (int i = 0; i < HOSTS; i++)
    {
        from.push_back(bench.AddHost());
        bench.Join(from.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
    }
    bench.Open(spec);
    for (const uint32_t host : from)
    {
        bench.AddFlow(host, to, Bytes(1000 * PACKETS));
    }
    bench.Run();
    double last = 0;
    for (int i = 0; i < HOSTS; i++)
    {
        last = std::max(last, bench.Duration(i).ToMicroseconds());
    }
    const double least = HOSTS * PACKETS * 1048 * 8 / 100e3; // us, data alone
    EXPECT_GE(last, least);
    EXPECT_LE(last, least * (1048 + 600) / 1048 + 3 * 100);
}

/**
 * Two hosts send 40 packets each to a third at the rate of its link. A receiver that answers each
 * fourth packet sends 20 acknowledgments; where they echo marks, it answers each marked one at
 * once.
 */
TEST(PacketLaws, MarkedPacketsAreAnsweredAtOnce)
{
    for (const bool isMarking : {false, true})
    {
        PacketBench bench;
        const uint32_t to = bench.AddHost();
        const uint32_t middle = bench.AddSwitch();
        const LinkId port = bench.Join(middle, to, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.queuePair.ackEvery = 4;
        spec.queuePair.ackDelay = Time::Milliseconds(1);
        spec.switches.marks = isMarking;
        spec.switches.markFrom = Bytes(0); // all that leave a queue behind
        spec.switches.markAll = Bytes(1);
        std::vector<uint32_t> from;
        for (int i = 0; i < 2; i++)
        {
            from.push_back(bench.AddHost());
            bench.Join(from.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
        bench.Open(spec);
        for (const uint32_t host : from)
        {
            bench.AddFlow(host, to, Bytes(40'000));
        }
        bench.Run();
        const uint64_t marks = bench.Network().Counters(port.Index()).marks;
        const LinkId back = bench.GetTopology().GetLink(port).opposite;
        const uint64_t answers = bench.Network().Counters(back.Index()).packets;
        EXPECT_GE(marks, isMarking ? 76U : 0U); // all but the first, the last, and those before
        EXPECT_GE(answers, isMarking ? marks : 20U);
        EXPECT_LE(answers, isMarking ? 80U : 20U);
    }
}

/**
 * A window of 2.9 packets lets NSCC have two under way, since it sends only what has room in the
 * window, and a static window three, whose last one reaches beyond it: a round trip each as many.
 */
TEST(PacketLaws, WindowsAreNotExceededWhereTheySaySo)
{
    // us: four times the latency, and a packet and its acknowledgment over two links
    const double roundTrip = 4 + 2 * (1048 + 60) * 8 / 100e3;
    Nscc nscc;
    nscc.startWindow = nscc.maxWindow = 2900 / (roundTrip * 100e3 / 8);
    StaticWindow window;
    window.window = Bytes(2900);
    const auto durationOf = [](const Polymorphic<CongestionControl>& control) {
        PacketBench bench;
        const auto [from, to] = bench.AddChain(1, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.congestionControl = control;
        bench.Open(spec);
        const std::size_t flow = bench.AddFlow(from, to, Bytes(600'000));
        bench.Run();
        return bench.Duration(flow).ToMicroseconds();
    };
    EXPECT_NEAR(durationOf(nscc), 600 / 2 * roundTrip, roundTrip);
    EXPECT_NEAR(durationOf(window), 600 / 3 * roundTrip, roundTrip);
}

/** Resident bytes of this process. */
double
ResidentBytes()
{
    std::ifstream file("/proc/self/statm");
    double size = 0;
    double resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/** A packet in flight takes 100 bytes of memory at most, its places in queues and wires included.
 */
TEST(PacketLaws, PacketsInFlightAreSmall)
{
    PacketBench bench;
    const uint32_t from = bench.AddHost();
    const uint32_t middle = bench.AddSwitch();
    const uint32_t to = bench.AddHost();
    bench.Join(from, middle, Rate::Gbps(800), Time::Microseconds(1));
    bench.Join(middle, to, Rate::Gbps(0.001), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.switches.flowControl = FlowControl::None;
    spec.switches.portQueue = Bytes::GiB(64);
    spec.queuePair.retransmissionTimeout = Time::Infinite();
    bench.Open(spec);
    bench.AddFlow(from, to, Bytes::GiB(4));
    const double before = ResidentBytes();
    bench.RunUntil(Time::Milliseconds(10));
    const double packets = 10e-3 * 100e9 / 1048;
    EXPECT_LT((ResidentBytes() - before) / packets, 100);
    EXPECT_NEAR(static_cast<double>(bench.Transport().PeakPackets()), packets, 0.01 * packets);
}

} // namespace
} // namespace weir
