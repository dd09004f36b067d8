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
 * The data of m3 (SIGCOMM 2024) state the uncontended time of each flow over two links of 1 us at
 * 10 Gb/s, in nanoseconds. Where a packet takes a whole number of nanoseconds, the HPCC simulator's
 * clock takes one less (PacketSpec::WholeTime); the stated times of one-packet flows do not include
 * this, hence the tolerance of 2 ns.
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
        if (ideals.size() % 4 == 0) // one queue pair each: a quarter of the flows is enough
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

/**
 * Records the packets of a port, with the queue that decided on their marks and the queue that they
 * left behind.
 */
class MarkWatch : public PortObserver
{
  public:
    struct Seen
    {
        double queued; //!< bytes
        bool isMarked;
    };

    MarkWatch(PacketBench& bench, LinkId link, MarkingPoint point)
        : m_bench(bench),
          m_point(point)
    {
        bench.Network().AddObserver(link.Index(), *this);
    }

    void OnMark(LinkId, unsigned, Time) override
    {
        m_isMarked = true;
    }

    void OnQueue(LinkId, unsigned, int64_t bytes, Time) override
    {
        if (bytes > m_bytes) // a packet has arrived
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
            m_point == MarkingPoint::Enqueue ? m_marks.front() : std::exchange(m_isMarked, false);
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
    MarkingPoint m_point;
    int64_t m_bytes{0};
    bool m_isMarked{false};
    std::deque<bool> m_marks; //!< of the queued packets
};

constexpr double MARK_FROM = 50000;
constexpr double MARK_ALL = 400000;
constexpr double MARK_MAX = 0.5;

double
MarkProbability(double queued)
{
    return queued <= MARK_FROM  ? 0
           : queued <= MARK_ALL ? MARK_MAX * (queued - MARK_FROM) / (MARK_ALL - MARK_FROM)
                                : 1;
}

/**
 * Chi-square statistic of marks against their probability, in bins of 20 kB of the queue on the
 * ramp.
 */
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
        if (bin.variance > 10) // large enough for a normal distribution
        {
            statistic += std::pow(bin.marks - bin.expected, 2) / bin.variance;
            bins++;
        }
    }
    return statistic;
}

/**
 * Marks follow the probability for the queue that a packet leaves behind (dequeue) or finds
 * (enqueue): 0 up to Kmin, Pmax (q - Kmin) / (Kmax - Kmin) up to Kmax, then 1. Marks drawn at
 * enqueue do not pass the test against the queue at dequeue.
 */
TEST(PacketLaws, MarksAreDrawnByTheQueueOfTheirPlace)
{
    for (const MarkingPoint point : {MarkingPoint::Dequeue, MarkingPoint::Enqueue})
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
        spec.switches.markAt = point;
        spec.switches.markFrom = Bytes(static_cast<int64_t>(MARK_FROM));
        spec.switches.markAll = Bytes(static_cast<int64_t>(MARK_ALL));
        spec.switches.markProbability = MARK_MAX;
        bench.Open(spec);
        MarkWatch watch(bench, port, point);
        RandomStream random(7);
        int64_t start = 0;
        for (int i = 0; i < 1500; i++) // queues that grow and shrink
        {
            start += static_cast<int64_t>(random.Below(20000000));
            bench.AddFlow(hosts[random.Below(hosts.size())],
                          sink,
                          Bytes(static_cast<int64_t>(1000 + random.Below(230000))),
                          Time::Picoseconds(start));
        }
        bench.Run();
        const bool isDequeue = point == MarkingPoint::Dequeue;
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
        if (!isDequeue) // here the marks of the other point are known for each packet
        {
            EXPECT_GT(MarkStatistic(other, bins), bound);
        }
    }
}

/**
 * A link without latency holds one packet, the one in transmission. When it fails for an instant
 * that packet is lost, at each position in the flow. Go-back-N retransmits the packets in flight
 * behind it, at most a window; selective repeat retransmits only the lost packet.
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
            const Time now = Time::Picoseconds(sent - 50000); // half of its 104.8 ns have passed
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
                // All except packets sent after the request to retransmit had arrived.
                EXPECT_GE(counters.retransmissions, static_cast<uint64_t>(std::max(1, behind - 1)))
                    << lost;
            }
        }
    }
}

/**
 * The credits of packets lost on a failed link are returned: afterwards the link is as fast as
 * before.
 */
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
    // 16 packets of 17 units of 64 bytes per round trip of 2 us plus one transmission.
    const double units = 16768 / 64;
    const double packets = std::floor(units / 17);
    EXPECT_NEAR(bytes[0], packets * 1048 * 1e-3 / 2.1048e-6, 3 * 1048);
}

/**
 * Reads by a PCIe device have at most tags x MRRS bytes outstanding: the throughput is min(C, tags
 * MRRS / round trip). Receive credits limit it similarly: without scaled flow control to 2047
 * units of 16 bytes, or 127 packets.
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

/** As many hosts per leaf as there are spines; links of 400 Gb/s and 1 us. */
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

/** Parameters of the Ultra Ethernet Consortium's htsim at 400 Gb/s. */
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

/**
 * Lower bound, us, of the time of @p bytes over @p hops links of 400 Gb/s and 1 us, including the
 * last acknowledgment.
 */
double
MinTime(double bytes, double hops)
{
    const double packets = std::ceil(bytes / 4086);
    constexpr double PER_BYTE = 8.0 / 400e3;
    return ((bytes + 64 * packets) + (hops - 1) * 4150 + hops * 64) * PER_BYTE + 2 * hops;
}

/**
 * Of the 128 source ports that a sender uses in turn, n hash to each of the 8 uplinks, so 50 rounds
 * put 50 n packets on it. n is binomial, and its Pearson statistic over the uplinks is chi-square
 * with 7 degrees of freedom: 99.8 % of the draws lie between 0.6 and 24.3. With distinct paths each
 * uplink carries an eighth of the packets, within one packet.
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
 * An uplink at a hundredth of the other uplinks' rate trims almost every packet once its queue of
 * 100 packets is full. Round robin gives it an eighth of the packets. A sender that skips paths
 * which trimmed uses it n times, as often as in one round trip, until the first answers arrive, and
 * then skips it 15 times: n / (n + 15) of its rounds. The fraction is smaller where paths that have
 * just answered without a mark are reused first, because fewer packets then choose a path in turn.
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
    EXPECT_NEAR(partOf(PathChoice::RoundRobin), 1.0 / 8, 0.001);
    EXPECT_NEAR(avoided, AVOIDED, 0.15 * AVOIDED);
    EXPECT_LT(partOf(PathChoice::Recycle), 0.9 / 8);
    EXPECT_LT(partOf(PathChoice::Mixed), 0.9 * avoided);
}

/** Two hosts at 100 Gb/s; one path per given latency joins their two switches. */
struct UnequalPaths
{
    /** @param latencies us, of each of the two links of a path */
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
 * Two paths whose latencies differ by 4 us, the time of 48 packets: every other packet arrives out
 * of order. Each of these is acknowledged at once, unless acknowledgments carry a bitmap of 64
 * packets: then every fourth packet is, and once more when the last gap is filled. No packet is
 * taken for lost.
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
 * Three paths, each 100 packets longer than the one before. The first missing packets are those on
 * the longest path, and the packets that arrive lie beyond a bitmap of 64 from there. Nevertheless
 * the acknowledgment for every fourth packet reports each of the four: a window of 260 packets is
 * delayed by at most the time of three packets (0.25 us), on average by half of that, 0.8 % of the
 * mean round trip of 16 us.
 */
TEST(PacketLaws, SharedAcknowledgmentsTellOfAllThatCame)
{
    const auto timeBy = [](uint32_t ackEvery) {
        PacketBench bench;
        constexpr double STEP = 100 * 1048 * 8 / 100e3 / 2; // us, per link; a path has two
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
 * A spraying sender knows the total rate of all its paths and the RTT of the shortest, whichever
 * path it uses first. With one of eight uplinks at a tenth of its rate, the uplinks have 7.1 times
 * the rate of the host's link; with each at a sixteenth, they have half of it in total.
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

/**
 * A sprayed permutation (8 MB on each of 64 hosts) takes at most 10 % longer than one uncontended
 * flow.
 */
TEST(PacketLaws, SprayedPermutationsAreNearTheirBound)
{
    for (const auto& control :
         {Polymorphic<CongestionControl>(Rccc()), Polymorphic<CongestionControl>(Nscc())})
    {
        LeafSpineBench net(8, 8, UltraEthernet(control));
        RandomStream random(3);
        std::vector<std::size_t> to(net.hosts.size());
        std::iota(to.begin(), to.end(), 0);
        for (std::size_t i = to.size() - 1; i > 0; i--) // Sattolo: one cycle, no fixed points
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
            const double min = MinTime(8e6, static_cast<double>(net.bench.Hops(i)));
            EXPECT_GE(net.bench.Duration(i).ToMicroseconds(), min - 1e-3) << i;
            last = std::max(last, net.bench.Duration(i).ToMicroseconds());
        }
        EXPECT_LE(last, 1.10 * MinTime(8e6, 4)) << control->Name();
    }
}

/**
 * An incast takes at least the transmission time of its bytes on the last link plus the path
 * latency; with receiver credits at most 2 % more.
 */
TEST(PacketLaws, IncastsByReceiverCreditAreNearTheirBound)
{
    struct Case
    {
        unsigned senders;
        double bytes;
        double spread; //!< us, over which the starts are spread
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
            const double min = MinTime(each.bytes, 4) + others;
            EXPECT_GE(last, min - 1e-3);
            if (std::string(control->Name()) == "rccc")
            {
                EXPECT_LE(last, 1.02 * (min + each.spread));
            }
        }
    }
}

/**
 * Two hosts send to a third at the rate of its link, in phase: of two packets that arrive at one
 * instant, a full queue has room for one. If the arriving packet is always trimmed, the host that
 * is first each time gets the whole link and ends in about half the time of both. With random
 * trimming of the tail both share the link and end at about the same time.
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
        const double min = 2 * PACKETS * 1048 * 8 / 100e3; // us, for both flows
        EXPECT_GE(last.ToMicroseconds(), min);
        if (tail == 0)
        {
            EXPECT_LE(first.ToMicroseconds(), 0.6 * min);
        }
        else
        {
            EXPECT_GE(first.ToMicroseconds(), 0.9 * min);
        }
    }
}

/**
 * Two hosts with a window of 40 packets send to a third. Base round trip: 4 us, two packets of
 * 83.84 ns and two acknowledgments of 4.8 ns, 49.8 packets; so 80 - 49.8 = 30 packets would queue,
 * where 20 have room. The header of a trimmed packet makes the sender retransmit it once. Later
 * packets that arrive before the retransmission were sent before it, and are no sign that it was
 * lost: as no header is dropped, each trimmed packet, an original or a retransmission, causes one
 * retransmission.
 */
TEST(PacketLaws, ATrimmedPacketIsRetransmittedOnce)
{
    PacketBench bench;
    const uint32_t to = bench.AddHost();
    const uint32_t middle = bench.AddSwitch();
    const LinkId port = bench.Join(middle, to, Rate::Gbps(100), Time::Microseconds(1));
    PacketSpec spec = PlainPackets();
    spec.queuePair.recovery = LossRecovery::Selective;
    spec.queuePair.window = Bytes(40000);
    spec.switches.flowControl = FlowControl::None;
    spec.switches.portQueue = Bytes(20 * 1048);
    spec.switches.trim = true;
    std::vector<uint32_t> from;
    for (int i = 0; i < 2; i++)
    {
        from.push_back(bench.AddHost());
        bench.Join(from.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
    }
    bench.Open(spec);
    for (const uint32_t host : from)
    {
        bench.AddFlow(host, to, Bytes(1000000));
    }
    bench.Run();
    const PortCounters counters = bench.Network().Counters(port.Index());
    EXPECT_GT(counters.trims, 10u);
    EXPECT_EQ(counters.drops, 0u);
    EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().retransmissions, counters.trims);
}

/**
 * A hundred hosts send one packet each, and ten have room in the queue. The queue of headers is
 * unlimited, so the receiver hears of each lost transmission: a packet that is trimmed again,
 * before nackInterval has passed, is retransmitted again, and no sender waits for its timeout.
 */
TEST(PacketLaws, APacketThatIsTrimmedAgainNeedsNoTimeout)
{
    for (const LossRecovery recovery : {LossRecovery::GoBackN, LossRecovery::Selective})
    {
        PacketBench bench;
        const uint32_t to = bench.AddHost();
        const uint32_t middle = bench.AddSwitch();
        const LinkId port = bench.Join(middle, to, Rate::Gbps(100), Time::Microseconds(1));
        PacketSpec spec = PlainPackets();
        spec.queuePair.recovery = recovery;
        spec.switches.flowControl = FlowControl::None;
        spec.switches.portQueue = Bytes(10 * 1048);
        spec.switches.trim = true;
        spec.switches.controlQueue = Bytes::GiB(1);
        std::vector<uint32_t> from;
        for (int i = 0; i < 100; i++)
        {
            from.push_back(bench.AddHost());
            bench.Join(from.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
        bench.Open(spec);
        for (const uint32_t host : from)
        {
            bench.AddFlow(host, to, Bytes(1000));
        }
        bench.Run();
        const PortCounters counters = bench.Network().Counters(port.Index());
        const QueuePairCounters ofPairs = bench.Transport().GetQueuePairs().Counters();
        EXPECT_GT(counters.trims, 100u); // some packets more than once
        EXPECT_EQ(counters.drops, 0u);
        EXPECT_EQ(ofPairs.timeouts, 0u);
        EXPECT_EQ(ofPairs.retransmissions, counters.trims);
    }
}

/**
 * A hundred hosts send one packet each; all arrive at a switch at one instant. One leaves at once,
 * ten fit into the queue, and the other 89 are trimmed. As many of their headers as controlQueue
 * holds are queued; the others are dropped, and their packets are retransmitted after a timeout.
 * With controlQueue 0 the limit is twice the queue: 2 * 10 480 / 60 = 349 headers, so none is
 * dropped here.
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
        bench.RunUntil(Time::Microseconds(2)); // all packets have arrived, none was retransmitted
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
 * A hundred hosts send to one at line rate: packets that find no room are trimmed, and their
 * headers trigger retransmissions. The 99 headers of 60 bytes per packet of 1048 exceed the link's
 * rate, so with strict priority of headers no data would pass. With one data packet after every ten
 * headers, data get 1048 / (1048 + 600) of the link. The bound adds three timeouts for the cases in
 * which all packets of a host and their headers are lost.
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
    const double min = HOSTS * PACKETS * 1048 * 8 / 100e3; // us, data only
    EXPECT_GE(last, min);
    EXPECT_LE(last, min * (1048 + 600) / 1048 + 3 * 100);
}

/**
 * Two hosts send 40 packets each to a third at the rate of its link. A receiver that acknowledges
 * every fourth packet sends 20 acknowledgments. If acknowledgments echo marks, each marked packet
 * is acknowledged at once.
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
        spec.switches.markFrom = Bytes(0); // marks all packets that leave a queue behind
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
        EXPECT_GE(marks, isMarking ? 76U : 0U); // all except first and last packets
        EXPECT_GE(answers, isMarking ? marks : 20U);
        EXPECT_LE(answers, isMarking ? 80U : 20U);
    }
}

/**
 * With a window of 2.9 packets, NSCC has two packets in flight because it sends only what fits into
 * the window; a static window has three, of which the last exceeds it. Each sends that many per
 * RTT.
 */
TEST(PacketLaws, WindowsAreNotExceededWhereTheySaySo)
{
    // RTT, us: four latencies, and a packet and its acknowledgment over two links.
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

/** Resident set size of this process, bytes. */
double
ResidentBytes()
{
    std::ifstream file("/proc/self/statm");
    double size = 0;
    double resident = 0;
    file >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/**
 * A packet in flight takes at most 100 bytes of memory, including its entries in queues and links.
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
