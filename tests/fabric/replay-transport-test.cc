// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/routing-policies.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/dctcp.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "packet-bench.h"
#include "random-stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace weir
{
namespace
{

/** Switches without losses and marks. */
PacketSpec
PlainSpec()
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.switches.marks = false;
    return spec;
}

/** Two leaves of eight hosts each, without a link between them. */
struct TwoLeaves
{
    explicit TwoLeaves(PacketBench& bench)
    {
        for (auto& hosts : hostsOf)
        {
            const uint32_t leaf = bench.AddSwitch();
            for (int i = 0; i < 8; i++)
            {
                hosts.push_back(bench.AddHost());
                bench.Join(hosts.back(), leaf, Rate::Gbps(100), Time::Microseconds(1));
            }
        }
    }

    /**
     * Three hosts of a leaf, from @p first on, send to its last host; the second and third start @p
     * later.
     */
    void AddIncast(PacketBench& bench, int leaf, int first, Time start, Time later = Time())
    {
        for (int i = 0; i < 3; i++)
        {
            bench.AddFlow(hostsOf[leaf][first + i],
                          hostsOf[leaf][7],
                          Bytes(100000 * (i + 1)),
                          i == 0 ? start : start + later);
        }
    }

    std::vector<uint32_t> hostsOf[2];
};

/**
 * An episode that equals an earlier one is replayed with the same picoseconds and without packets,
 * also on other hosts and links.
 */
TEST(ReplayTransport, WhatIsAlikeIsReplayed)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    PacketSpec spec = PlainSpec();
    spec.switches.marks = true;
    spec.congestionControl = Dcqcn();
    bench.OpenReplay(spec);
    leaves.AddIncast(bench, 0, 0, Time());
    leaves.AddIncast(bench, 0, 0, Time::Milliseconds(1)); // the same
    leaves.AddIncast(bench, 0, 3, Time::Milliseconds(2)); // with other senders
    leaves.AddIncast(bench, 1, 2, Time::Milliseconds(3)); // on the other leaf
    leaves.AddIncast(bench, 1, 2, Time::Milliseconds(4), Time::Nanoseconds(1));
    bench.Run();
    for (std::size_t i = 3; i < 12; i++)
    {
        EXPECT_EQ(bench.Duration(i), bench.Duration(i % 3)) << i;
    }
    const ReplayCounters& counters = bench.Replay().GetCounters();
    EXPECT_EQ(counters.episodes, 5u);
    EXPECT_EQ(counters.replayed, 3u);
    EXPECT_EQ(counters.flows, 15u);
    EXPECT_EQ(counters.replayedFlows, 9u);
}

/**
 * A long flow stays in its episode, but the links of a short flow that joined it leave the episode
 * when they are idle: later traffic there forms episodes of its own and takes the uncontended time
 * of 100 kB at 100 Gb/s. The counters of such links include all of their traffic.
 */
TEST(ReplayTransport, QuietLinksLeaveTheirEpisode)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    const auto& hosts = leaves.hostsOf[0];
    bench.OpenReplay(PlainSpec());
    bench.AddFlow(hosts[0], hosts[1], Bytes(100'000'000));                       // 8 ms
    bench.AddFlow(hosts[0], hosts[2], Bytes(100'000), Time::Microseconds(10));   // joins it
    bench.AddFlow(hosts[3], hosts[2], Bytes(100'000), Time::Milliseconds(1));    // a new episode
    bench.AddFlow(hosts[3], hosts[2], Bytes(100'000), Time::Milliseconds(2));    // the same
    bench.AddFlow(hosts[0], hosts[2], Bytes(100'000), Time::Milliseconds(3));    // joins again
    bench.AddFlow(hosts[3], hosts[2], Bytes(100'000), Time::Microseconds(3005)); // contends with it
    bench.Run();
    EXPECT_EQ(bench.Duration(3), bench.Duration(2));
    EXPECT_LT(bench.Duration(2), Time::Microseconds(13));
    EXPECT_GT(bench.Duration(5), bench.Duration(2));
    const ReplayCounters& counters = bench.Replay().GetCounters();
    EXPECT_EQ(counters.episodes, 3u);
    EXPECT_EQ(counters.replayed, 1u);
    const auto packetsTo = [&](std::size_t flow) {
        const PathId path = bench.GetRouting().CurrentPath(bench.RouteIdOf(flow));
        const auto links = bench.GetRouting().Paths().Links(path);
        return bench.Any().GetPortCounters(links.back().link)->packets;
    };
    EXPECT_EQ(packetsTo(0), 100'000u);
    EXPECT_EQ(packetsTo(2), 500u);
}

/**
 * Hosts on one switch at 2 us; the first sends 220 kB to the second every 20 us. Each of these
 * takes 17.6 us plus headers plus 4 us of latency, so the port never becomes quiet between periods.
 * After 101 periods, at 2.013 ms, @p other further hosts send 150 kB each, which takes a dozen
 * periods or more to drain.
 * @return the counters of all links
 */
std::vector<PortCounters>
RunPeriods(PacketBench& bench, const PacketSpec& spec, bool asReplay, int other)
{
    std::vector<uint32_t> hosts;
    const uint32_t leaf = bench.AddSwitch();
    for (int i = 0; i < 4; i++)
    {
        hosts.push_back(bench.AddHost());
        bench.Join(hosts.back(), leaf, Rate::Gbps(100), Time::Microseconds(2));
    }
    asReplay ? bench.OpenReplay(spec) : bench.Open(spec);
    const RouteId route = bench.RouteOf(hosts[0], hosts[1]);
    for (int i = 0; i < 400; i++)
    {
        if (i == 101)
        {
            for (int host = 2; host < 2 + other; host++)
            {
                bench.AddFlow(hosts[host], hosts[1], Bytes(150'000), Time::Microseconds(2013));
            }
        }
        bench.AddFlow(route, Bytes(220'000), Time::Microseconds(20) * i);
    }
    bench.Run();
    std::vector<PortCounters> counters;
    for (std::size_t i = 0; i < bench.GetTopology().LinkCount(); i++)
    {
        counters.push_back(*bench.Any().GetPortCounters(LinkId(i)));
    }
    return counters;
}

/**
 * Periodic traffic that never becomes quiet is simulated for a few periods only. When something
 * else happens, the packets and their queues are restored, and all later times equal those of the
 * packet simulation to the picosecond, and so do the counters.
 */
TEST(ReplayTransport, PeriodsAreNotSimulated)
{
    for (const int other : {0, 1, 2})
    {
        PacketBench packets;
        const auto expected = RunPeriods(packets, PlainSpec(), false, other);
        PacketBench replay;
        const auto counters = RunPeriods(replay, PlainSpec(), true, other);
        for (std::size_t i = 0; i < 400u + other; i++)
        {
            ASSERT_EQ(replay.End(i), packets.End(i)) << other << ", flow " << i;
        }
        for (std::size_t i = 0; i < expected.size(); i++)
        {
            EXPECT_EQ(counters[i].packets, expected[i].packets) << i;
            EXPECT_EQ(counters[i].bytes, expected[i].bytes) << i;
            EXPECT_EQ(counters[i].busy, expected[i].busy) << i;
            EXPECT_EQ(counters[i].backlogged, expected[i].backlogged) << i;
            EXPECT_EQ(counters[i].maxQueued, expected[i].maxQueued) << i;
        }
        const ReplayCounters& replayed = replay.Replay().GetCounters();
        EXPECT_EQ(replayed.episodes, 1u);
        EXPECT_EQ(replayed.replayed, 0u);
        EXPECT_GT(replayed.periods, other == 0 ? 390u : 350u);
        EXPECT_LT(replayed.events, packets.Transport().Events() / 8);
        EXPECT_LT(replayed.repeatedEvents, packets.Transport().Events() / 100);
    }
}

/**
 * Periodic flows on both leaves plus some others at random times: two flows of 12 us to one host
 * and one of 25 us, about every 28 us.
 */
void
AddRandomPeriods(PacketBench& bench, const TwoLeaves& leaves, uint64_t seed)
{
    struct Start
    {
        int64_t time;
        int leaf;
        RouteId route;
        Bytes bytes;
    };

    RandomStream random(seed);
    std::vector<Start> starts;
    const auto below = [&](uint64_t limit) { return static_cast<int64_t>(random.Below(limit)); };
    const int64_t period = 27'500'000 + below(1'500'000);
    for (int flow = 0; flow < 3; flow++)
    {
        const Bytes bytes((flow == 2 ? 300'000 : 145'000) + below(10'000));
        const int64_t time = below(27'000'000);
        for (int leaf = 0; leaf < 2; leaf++)
        {
            const auto& hosts = leaves.hostsOf[leaf];
            const RouteId route = bench.RouteOf(hosts[flow], hosts[4 + flow / 2]);
            for (int i = 0; i < 100; i++)
            {
                starts.push_back({time + i * period, leaf, route, bytes});
            }
        }
    }
    for (int other = 0; other < 3; other++)
    {
        const int leaf = static_cast<int>(random.Below(2));
        const auto& hosts = leaves.hostsOf[leaf];
        const RouteId route = bench.RouteOf(hosts[random.Below(4)], hosts[4 + random.Below(3)]);
        starts.push_back({below(100 * period), leaf, route, Bytes(1 + below(50'000))});
    }
    std::stable_sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
        return a.time < b.time;
    });
    for (const Start& start : starts)
    {
        bench.AddFlow(start.route, start.bytes, Time::Picoseconds(start.time));
    }
}

/** Wherever other flows interfere, all flows end as in the packet simulation. */
TEST(ReplayTransport, PeriodsAreWhatAllPacketsDo)
{
    uint64_t periods = 0;
    for (uint64_t seed = 1; seed <= 40; seed++)
    {
        PacketBench packets;
        const TwoLeaves ofPackets(packets);
        packets.Open(PlainSpec());
        AddRandomPeriods(packets, ofPackets, seed);
        packets.Run();
        PacketBench replay;
        const TwoLeaves ofReplay(replay);
        replay.OpenReplay(PlainSpec());
        AddRandomPeriods(replay, ofReplay, seed);
        replay.Run();
        periods += replay.Replay().GetCounters().periods;
        for (std::size_t i = 0; i < 603; i++)
        {
            ASSERT_EQ(replay.End(i), packets.End(i)) << "seed " << seed << ", flow " << i;
        }
        for (std::size_t i = 0; i < replay.GetTopology().LinkCount(); i++)
        {
            const PortCounters told = *replay.Any().GetPortCounters(LinkId(i));
            const PortCounters expected = *packets.Any().GetPortCounters(LinkId(i));
            ASSERT_EQ(told.bytes, expected.bytes) << "seed " << seed << ", link " << i;
            ASSERT_EQ(told.busy, expected.busy) << "seed " << seed << ", link " << i;
        }
    }
    EXPECT_GT(periods, 1000u);
}

/**
 * Flows of one connection, each started when the one before it ends. As under ns-3, the transport
 * is asked for its next event before it reports that end, and after another flow has joined at that
 * instant: the parked packets are needed while the report is still pending.
 */
TEST(ReplayTransport, ParkedPacketsDoNotForgetWhatIsToBeTold)
{
    const auto play = [](PacketBench& bench, bool asReplay) {
        const TwoLeaves leaves(bench);
        asReplay ? bench.OpenReplay(PlainSpec()) : bench.Open(PlainSpec());
        const auto& hosts = leaves.hostsOf[0];
        const RouteId route = bench.RouteOf(hosts[0], hosts[7]);
        const RouteId other = bench.RouteOf(hosts[1], hosts[7]);
        struct Ends : FlowClient
        {
            void OnFlowDone(uint64_t, Time now) override
            {
                times.push_back(now);
            }

            std::vector<Time> times;
        } ends;
        FlowRequest request;
        request.bytes = Bytes(220'000);
        request.client = &ends;
        const auto start = [&](RouteId chosen, Time now) {
            request.route = chosen;
            bench.Any().Start(request, now);
            bench.Any().NextEventTime();
        };
        start(route, Time());
        bench.RunUntil(Time::Milliseconds(1));
        const Time uncontended = ends.times.at(0);
        Time now = Time::Milliseconds(2);
        start(route, now);
        for (int i = 1; i < 50; i++)
        {
            now += uncontended;
            bench.RunUntil(now - Time::Picoseconds(1));
            start(route, now);
            if (i == 40)
            {
                start(other, now);
            }
            bench.RunUntil(now);
        }
        bench.Run();
        EXPECT_EQ(bench.Any().ActiveFlows(), 0u);
        return ends.times;
    };
    PacketBench packets;
    const std::vector<Time> expected = play(packets, false);
    PacketBench replay;
    EXPECT_EQ(play(replay, true), expected);
    EXPECT_GT(replay.Replay().GetCounters().periods, 30u);
}

/**
 * The tolerance shifts the end of a flow 300 ns earlier than its packets have it, so the report is
 * held back; meanwhile another flow needs the packets, which were parked while the report was
 * pending.
 */
TEST(ReplayTransport, ParkedPacketsDoNotForgetWhatIsHeld)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    PacketSpec spec = PlainSpec();
    spec.format.header = 0;
    spec.settle.tolerance = 0.02;
    bench.OpenReplay(spec);
    const auto& hosts = leaves.hostsOf[0];
    const RouteId route = bench.RouteOf(hosts[0], hosts[7]);
    const Time period = Time::Microseconds(19.78); // its flows take 19.68 us
    for (int i = 0; i < 100; i++)
    {
        bench.AddFlow(route, Bytes(220'000), period * i);
    }
    const Time sooner = period * 100 - Time::Nanoseconds(300);
    bench.AddFlow(route, Bytes(220'000), sooner);
    bench.AddFlow(hosts[1], hosts[7], Bytes(50'000), sooner + Time::Nanoseconds(10));
    bench.Run();
    EXPECT_EQ(bench.Replay().GetCounters().moves, 1u);
    EXPECT_GT(bench.Replay().GetCounters().periods, 90u);
    EXPECT_EQ(bench.Any().ActiveFlows(), 0u);
    EXPECT_FALSE(bench.End(99).IsInfinite());
}

/**
 * Two flows to one host in classes weighted 1 : 3; the favored flow changes between periods, and an
 * episode is not replayed for the other assignment.
 */
TEST(ReplayTransport, ClassesAreNotTakenForEachOther)
{
    const auto play = [](PacketBench& bench, bool asReplay) {
        const TwoLeaves leaves(bench);
        PacketSpec spec = PlainSpec();
        spec.trafficClasses = spec.switches.losslessClasses = 2;
        spec.arbitration.lowTable = "1:64,2:192";
        asReplay ? bench.OpenReplay(spec) : bench.Open(spec);
        const auto& hosts = leaves.hostsOf[0];
        for (int i = 0; i < 6; i++)
        {
            for (int sender = 0; sender < 2; sender++)
            {
                FlowRequest flow;
                flow.route = bench.RouteOf(hosts[sender], hosts[7]);
                flow.bytes = Bytes(500'000);
                flow.trafficClass = sender == (i / 2) % 2 ? 2 : 1;
                bench.AddFlow(flow, Time::Milliseconds(1) * i);
            }
        }
        bench.Run();
    };
    PacketBench packets;
    play(packets, false);
    PacketBench replay;
    play(replay, true);
    EXPECT_GT(replay.Replay().GetCounters().replayed, 0u);
    for (std::size_t flow = 0; flow < 12; flow++)
    {
        EXPECT_EQ(replay.End(flow), packets.End(flow)) << flow;
    }
    EXPECT_LT(packets.End(0), packets.End(1));
    EXPECT_GT(packets.End(4), packets.End(5));
}

/**
 * A flow of the first period uses a link that is idle later, when a long flow takes that link. Both
 * episodes merge when the last flow arrives. Although replay has moved the first period to a later
 * time, the long flow meets no traffic of it.
 */
TEST(ReplayTransport, WhatPeriodsMoveMeetsNothingElse)
{
    const auto play = [](PacketBench& bench, bool asReplay) {
        const TwoLeaves leaves(bench);
        asReplay ? bench.OpenReplay(PlainSpec()) : bench.Open(PlainSpec());
        const auto& hosts = leaves.hostsOf[0];
        const RouteId route = bench.RouteOf(hosts[0], hosts[1]);
        for (int i = 0; i < 220; i++)
        {
            bench.AddFlow(route, Bytes(220'000), Time::Microseconds(20) * i);
            if (i == 0)
            {
                bench.AddFlow(hosts[0], hosts[2], Bytes(100'000), Time::Microseconds(10));
            }
            if (i == 130)
            {
                bench.AddFlow(hosts[3], hosts[2], Bytes(6'000'000), Time::Microseconds(2605));
            }
            if (i == 149)
            {
                bench.AddFlow(hosts[3], hosts[1], Bytes(5'000), Time::Microseconds(2987));
            }
        }
        bench.Run();
    };
    PacketBench packets;
    play(packets, false);
    PacketBench replay;
    play(replay, true);
    for (std::size_t i = 0; i < 223; i++)
    {
        EXPECT_EQ(replay.End(i), packets.End(i)) << i;
    }
    EXPECT_GT(replay.Replay().GetCounters().periods, 100u);
}

/** Port counters never fall while packets are parked, and every period adds its 216 packets. */
TEST(ReplayTransport, CountersNeverFall)
{
    PacketBench bench;
    const TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    const RouteId route = bench.RouteOf(leaves.hostsOf[0][0], leaves.hostsOf[0][7]);
    const Time period = Time::Microseconds(19); // no quiet gap between flows
    for (int i = 0; i < 60; i++)
    {
        bench.AddFlow(route, Bytes(216'000), period * i);
    }
    uint64_t last = 0;
    for (int i = 1; i < 60; i++)
    {
        bench.RunUntil(period * i);
        const uint64_t packets = bench.Any().GetPortCounters(LinkId(0))->packets;
        EXPECT_GE(packets, last) << i;
        EXPECT_GE(packets, 216u * (i - 1)) << i;
        last = packets;
    }
    EXPECT_GT(bench.Replay().GetCounters().periods, 50u);
}

/**
 * While a congestion control waits for a timer, its rate may still change, so the traffic is
 * simulated.
 */
TEST(ReplayTransport, RatesThatRecoverAreSimulated)
{
    PacketSpec spec = PlainSpec();
    spec.switches.marks = true;
    Dcqcn control;
    control.increaseTimer = Time::Seconds(1); // longer than the simulation
    spec.congestionControl = control;
    PacketBench calm;
    RunPeriods(calm, spec, true, 0);
    EXPECT_GT(calm.Replay().GetCounters().periods, 390u);
    PacketBench cut;
    RunPeriods(cut, spec, true, 2);
    EXPECT_LT(cut.Replay().GetCounters().periods, 100u);
}

/**
 * Without marks, the alpha of DCTCP starts at 1 and shrinks by a sixteenth per round of 8 us, which
 * no packet shows: it is a thousandth after 107 rounds, or 43 periods of 20 us. Until then, and
 * always under HPCC, periods are simulated.
 */
TEST(ReplayTransport, WhatControlsLearnUnseenIsSimulated)
{
    PacketSpec spec = PlainSpec();
    spec.congestionControl = Dctcp();
    PacketBench dctcp;
    RunPeriods(dctcp, spec, true, 0);
    EXPECT_GT(dctcp.Replay().GetCounters().periods, 330u);
    EXPECT_LT(dctcp.Replay().GetCounters().periods, 385u);
    spec.congestionControl = Hpcc();
    PacketBench hpcc;
    RunPeriods(hpcc, spec, true, 0);
    EXPECT_EQ(hpcc.Replay().GetCounters().periods, 0u);
}

/** Queries the path of each flow in the notification of its start. */
class PathsAtStart : public TransportObserver
{
  public:
    explicit PathsAtStart(PacketBench& bench)
        : m_bench(bench)
    {
        m_bench.Any().AddObserver(*this, false);
    }

    ~PathsAtStart() override
    {
        m_bench.Any().RemoveObserver(*this);
    }

    void OnFlowStarted(FlowId id, const FlowRequest&, Time) override
    {
        paths.push_back(m_bench.Any().CurrentPath(id).path);
    }

    std::vector<PathId> paths;

  private:
    PacketBench& m_bench;
};

/**
 * A flow has its path when observers are notified of its start, both in a new episode and when it
 * joins one.
 */
TEST(ReplayTransport, FlowsHavePathsWhenTheyStart)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    PathsAtStart observer(bench);
    leaves.AddIncast(bench, 0, 0, Time(), Time::Microseconds(3));
    leaves.AddIncast(bench, 0, 0, Time::Milliseconds(1), Time::Microseconds(4));
    bench.Run();
    ASSERT_EQ(observer.paths.size(), 6u);
    for (std::size_t i = 0; i < observer.paths.size(); i++)
    {
        EXPECT_TRUE(observer.paths[i].IsValid()) << i;
        EXPECT_EQ(observer.paths[i], observer.paths[i % 3]) << i;
    }
}

/** Port counters count replayed traffic like simulated traffic. */
TEST(ReplayTransport, PortsCountReplays)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    leaves.AddIncast(bench, 0, 0, Time());
    leaves.AddIncast(bench, 1, 0, Time::Milliseconds(1));
    bench.Run();
    ASSERT_EQ(bench.Replay().GetCounters().replayed, 1u);
    const std::size_t half = bench.GetTopology().LinkCount() / 2;
    for (std::size_t i = 0; i < half; i++)
    {
        const PortCounters first = *bench.Any().GetPortCounters(LinkId(i));
        const PortCounters second = *bench.Any().GetPortCounters(LinkId(half + i));
        EXPECT_EQ(first.packets, second.packets) << i;
        EXPECT_EQ(first.bytes, second.bytes) << i;
        EXPECT_EQ(first.busy, second.busy) << i;
        EXPECT_EQ(first.maxQueued, second.maxQueued) << i;
    }
}

/**
 * Flows of random sizes and starts on a leaf-spine network, in groups so that some are uncontended.
 */
void
AddRandom(PacketBench& bench, const std::vector<uint32_t>& hosts, uint64_t seed, int flows)
{
    RandomStream random(seed);
    std::vector<int64_t> starts;
    for (int i = 0; i < flows; i++)
    {
        const auto burst = static_cast<int64_t>(random.Below(6)) * 200000000;
        starts.push_back(burst + static_cast<int64_t>(random.Below(50000000)));
    }
    std::sort(starts.begin(), starts.end());
    for (const int64_t start : starts)
    {
        const std::size_t from = random.Below(hosts.size());
        const std::size_t to = (from + 1 + random.Below(hosts.size() - 1)) % hosts.size();
        bench.AddFlow(hosts[from],
                      hosts[to],
                      Bytes(static_cast<int64_t>(1 + random.Below(300000))),
                      Time::Picoseconds(start));
    }
}

std::vector<uint32_t>
AddLeafSpine(PacketBench& bench)
{
    std::vector<uint32_t> hosts;
    std::vector<uint32_t> leaves;
    for (int i = 0; i < 3; i++)
    {
        leaves.push_back(bench.AddSwitch());
        for (int h = 0; h < 6; h++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), leaves.back(), Rate::Gbps(100), Time::Microseconds(1));
        }
    }
    for (int i = 0; i < 2; i++)
    {
        const uint32_t spine = bench.AddSwitch();
        for (const uint32_t leaf : leaves)
        {
            bench.Join(leaf, spine, Rate::Gbps(100), Time::Microseconds(1));
        }
    }
    return hosts;
}

/**
 * If every flow has its own queue pair, no state persists between episodes: simulating episodes one
 * by one, merged or restarted from their beginnings, equals simulating all packets.
 */
TEST(ReplayTransport, EpisodesAreWhatAllPacketsDo)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
    {
        const Polymorphic<RoutingPolicy> routing =
            seed % 2 == 0 ? Polymorphic<RoutingPolicy>(AdaptiveRouting()) : EcmpRouting();
        PacketBench packets;
        const auto hosts = AddLeafSpine(packets);
        packets.Open(PlainSpec(), routing);
        AddRandom(packets, hosts, seed, 60);
        packets.Run();
        PacketBench replay;
        AddLeafSpine(replay);
        replay.OpenReplay(PlainSpec(), routing);
        AddRandom(replay, hosts, seed, 60);
        replay.Run();
        EXPECT_GT(replay.Replay().GetCounters().episodes, 6u);
        for (std::size_t i = 0; i < 60; i++)
        {
            ASSERT_EQ(replay.End(i), packets.End(i)) << "seed " << seed << ", flow " << i;
        }
    }
}

/** An episode that deviates from the recorded one that it began like is simulated. */
TEST(ReplayTransport, WhatGoesOnOtherwiseIsSimulated)
{
    const auto add = [](PacketBench& bench, const TwoLeaves& leaves) {
        for (int i = 0; i < 3; i++)
        {
            const Time start = Time::Milliseconds(i);
            bench.AddFlow(leaves.hostsOf[0][0], leaves.hostsOf[0][7], Bytes(200000), start);
            bench.AddFlow(leaves.hostsOf[0][1],
                          leaves.hostsOf[0][7],
                          Bytes(i == 1 ? 50000 : 100000),
                          start + Time::Microseconds(5));
        }
    };
    PacketBench packets;
    TwoLeaves ofPackets(packets);
    packets.Open(PlainSpec());
    add(packets, ofPackets);
    packets.Run();
    PacketBench replay;
    TwoLeaves ofReplay(replay);
    replay.OpenReplay(PlainSpec());
    add(replay, ofReplay);
    replay.Run();
    for (std::size_t i = 0; i < 6; i++)
    {
        EXPECT_EQ(replay.End(i), packets.End(i)) << i;
    }
    EXPECT_EQ(replay.Replay().GetCounters().replayed, 1u);
    EXPECT_GT(replay.Replay().GetCounters().repeatedEvents, 0u);
}

/**
 * A flow that starts later by less than the tolerance shifts the replayed times by that delay; a
 * larger delay makes another episode. 1 % of the 24 us that 300 kB take at 100 Gb/s are 240 ns.
 */
TEST(ReplayTransport, ToleranceMovesWhatIsTold)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    PacketSpec spec = PlainSpec();
    spec.settle.tolerance = 0.01;
    bench.OpenReplay(spec);
    const Time small = Time::Nanoseconds(60); // 1 % of the time of 200 kB is 160 ns
    leaves.AddIncast(bench, 0, 0, Time());
    leaves.AddIncast(bench, 0, 0, Time::Milliseconds(1), small);
    leaves.AddIncast(bench, 0, 0, Time::Milliseconds(2), Time::Microseconds(4));
    bench.Run();
    const ReplayCounters& counters = bench.Replay().GetCounters();
    EXPECT_EQ(counters.replayed, 1u);
    EXPECT_EQ(counters.largestMove, small.ToPicoseconds());
    EXPECT_EQ(bench.Duration(3), bench.Duration(0) + small); // the whole episode is reported later
    EXPECT_EQ(bench.Duration(4), bench.Duration(1));
    EXPECT_EQ(bench.Duration(5), bench.Duration(2));
}

/**
 * Link failures and cancellations restore the packets, which then behave as in the packet
 * simulation.
 */
TEST(ReplayTransport, FailuresAndCancelsFindPackets)
{
    const auto play = [](PacketBench& bench, const std::vector<uint32_t>& hosts) {
        AddRandom(bench, hosts, 5, 40);
        bench.RunUntil(Time::Microseconds(15));
        const LinkId down(2 * 18); // from the first leaf to the first spine
        bench.Any().SetLinksUp({down, LinkId(down.Index() + 1)}, false, Time::Microseconds(15));
        bench.Any().SetLinkRate(LinkId(1), Rate::Gbps(40), Time::Microseconds(15));
        bench.RunUntil(Time::Microseconds(300));
        bench.Any().SetLinksUp({down, LinkId(down.Index() + 1)}, true, Time::Microseconds(300));
        bench.Run();
    };
    PacketBench packets;
    const auto hosts = AddLeafSpine(packets);
    packets.Open(PlainSpec());
    play(packets, hosts);
    PacketBench replay;
    AddLeafSpine(replay);
    replay.OpenReplay(PlainSpec());
    play(replay, hosts);
    for (std::size_t i = 0; i < 40; i++)
    {
        EXPECT_EQ(replay.End(i), packets.End(i)) << i;
    }

    PacketBench bench;
    TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    bench.AddFlow(leaves.hostsOf[0][0], leaves.hostsOf[0][7], Bytes(1000000));
    bench.RunUntil(Time::Microseconds(10));
    FlowRequest request;
    request.route = bench.RouteOf(leaves.hostsOf[1][0], leaves.hostsOf[1][7]);
    request.bytes = Bytes(1000000);
    const FlowId cancelled = bench.Any().Start(request, Time::Microseconds(10));
    EXPECT_TRUE(bench.Any().Cancel(cancelled, Time::Microseconds(10)));
    bench.Run();
    EXPECT_FALSE(bench.Any().Cancel(cancelled, Time::Milliseconds(1)));
    EXPECT_EQ(bench.Any().ActiveFlows(), 0u);
    EXPECT_FALSE(bench.End(0).IsInfinite());
}

/** An episode recorded on links that are up is not replayed while one of them is down. */
TEST(ReplayTransport, FlowsStallWhereTheyWereReplayed)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    const Time down = Time::Microseconds(500);
    const Time up = Time::Microseconds(1500);
    for (const Time start : {Time(), Time::Microseconds(1000), Time::Microseconds(2000)})
    {
        bench.AddFlow(leaves.hostsOf[0][0], leaves.hostsOf[0][7], Bytes(100000), start);
    }
    bench.RunUntil(down);
    bench.Any().SetLinksUp({LinkId(0), LinkId(1)}, false, down);
    bench.RunUntil(Time::Microseconds(1400));
    EXPECT_TRUE(bench.End(1).IsInfinite());
    EXPECT_EQ(bench.Any().StalledFlows().size(), 1u);
    bench.RunUntil(up);
    bench.Any().SetLinksUp({LinkId(0), LinkId(1)}, true, up);
    bench.Run();
    EXPECT_EQ(bench.End(1) - up, bench.Duration(0));
    EXPECT_EQ(bench.Duration(2), bench.Duration(0));
    EXPECT_EQ(bench.Replay().GetCounters().replayed, 1u); // the last one
}

/**
 * Equivalent failed links stall the flows of each: every flow is reported as stalled, none depends
 * on the report of another one.
 */
TEST(ReplayTransport, AlikeStalledFlowsAreAllKnown)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    std::vector<LinkId> down;
    for (const auto& hosts : leaves.hostsOf)
    {
        const DeviceId host(hosts.front());
        down.push_back(bench.GetTopology().LinksFrom(host).front());
    }
    bench.Any().SetLinksUp(down, false, Time());
    for (const auto& hosts : leaves.hostsOf)
    {
        bench.AddFlow(hosts[0], hosts[7], Bytes(100000), Time::Microseconds(1));
    }
    bench.RunUntil(Time::Milliseconds(1));
    const std::vector<StalledFlow> stalled = bench.Any().StalledFlows();
    ASSERT_EQ(stalled.size(), 2u);
    EXPECT_EQ(stalled[0].link, down[0]);
    EXPECT_EQ(stalled[1].link, down[1]);
    bench.Any().SetLinksUp(down, true, Time::Milliseconds(1));
    bench.Run();
    EXPECT_EQ(bench.Duration(0), bench.Duration(1));
    EXPECT_FALSE(bench.Duration(0).IsInfinite());
}

/** Records the packet counters of each flow at its end, as recorders do. */
class CountersAtEnd : public TransportObserver
{
  public:
    explicit CountersAtEnd(PacketBench& bench)
        : m_bench(bench)
    {
        m_bench.Any().AddObserver(*this, false);
    }

    ~CountersAtEnd() override
    {
        m_bench.Any().RemoveObserver(*this);
    }

    void OnFlowFinished(FlowId id, const FlowRequest& request, Time, Time) override
    {
        counters[request.token] = *m_bench.Any().GetFlowCounters(id);
    }

    std::map<uint64_t, FlowCounters> counters; //!< by flow

  private:
    PacketBench& m_bench;
};

/** A flow that crosses no link sees no marks, whatever other flows of its episode see. */
TEST(ReplayTransport, FlowsWithoutLinksMeetNothing)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    PacketSpec spec = PlainSpec();
    spec.switches.marks = true;
    spec.switches.markFrom = spec.switches.markAll = Bytes(0);
    bench.OpenReplay(spec);
    CountersAtEnd observer(bench);
    leaves.AddIncast(bench, 0, 0, Time());
    const uint32_t host = leaves.hostsOf[0][0];
    bench.AddFlow(host, host, Bytes(1000), Time::Microseconds(20)); // the incast takes 48 us
    bench.RunUntil(Time::Microseconds(10));
    bench.Any().SetLinkRate(LinkId(0), Rate::Gbps(50), Time::Microseconds(10)); // merges them
    bench.Run();
    ASSERT_EQ(observer.counters.size(), 4u);
    EXPECT_GT(observer.counters[0].marks, 0u);
    EXPECT_EQ(observer.counters[3].marks, 0u);
    EXPECT_EQ(bench.Duration(3), Time());
}

/**
 * An open pause counts up to now, and no pause counts twice: the same as in the packet simulation.
 */
TEST(ReplayTransport, OpenPausesCount)
{
    const auto open = [](PacketBench& bench, bool replays) {
        const TwoLeaves leaves(bench);
        PacketSpec spec = PlainSpec();
        spec.switches.buffer = Bytes(1000000);
        spec.switches.headroom = Bytes(50000);
        replays ? bench.OpenReplay(spec) : bench.Open(spec);
        const DeviceId leaf = bench.GetTopology().GetLink(LinkId(0)).to;
        for (const LinkId link : bench.GetTopology().LinksFrom(leaf))
        {
            if (bench.GetTopology().GetLink(link).to == DeviceId(leaves.hostsOf[0][7]))
            {
                bench.Any().SetLinkRate(link, Rate::Gbps(0.1), Time());
            }
        }
        bench.AddFlow(leaves.hostsOf[0][0], leaves.hostsOf[0][7], Bytes(100000000));
        bench.AddFlow(leaves.hostsOf[0][1], leaves.hostsOf[0][7], Bytes(100000000));
    };
    PacketBench packets;
    open(packets, false);
    PacketBench replay;
    open(replay, true);
    for (const double us : {100.0, 300.0, 1000.0})
    {
        packets.RunUntil(Time::Microseconds(us));
        replay.RunUntil(Time::Microseconds(us));
        const int64_t paused = packets.Any().GetPortCounters(LinkId(0))->paused;
        EXPECT_GT(paused, 0);
        EXPECT_EQ(replay.Any().GetPortCounters(LinkId(0))->paused, paused) << us;
    }
}

/**
 * In the second episode B starts 200 ns earlier, and the replay shifts all its times accordingly. A
 * takes 26.08 us in isolation; shifted by 200 ns it would end before its lower bound of 26 us (24
 * us for its bytes, 2 us on two links), which is reported instead.
 */
TEST(ReplayTransport, ToleranceLetsNoFlowEndTooSoon)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    PacketSpec spec = PlainSpec();
    spec.format.header = 0;
    spec.queuePair.ackEvery = 300; // B's acknowledgment arrives after A has ended
    spec.queuePair.ackDelay = Time::Milliseconds(1);
    spec.settle.tolerance = 0.01;
    bench.OpenReplay(spec);
    const std::vector<uint32_t>& hosts = leaves.hostsOf[0];
    const Time sooner = Time::Nanoseconds(200); // 1 % of B's 26 us are 260 ns
    for (int i = 0; i < 2; i++)
    {
        const Time start = Time::Milliseconds(i);
        bench.AddFlow(hosts[0], hosts[7], Bytes(300000), start);
        bench.AddFlow(hosts[7],
                      hosts[1],
                      Bytes(300000),
                      start + Time::Microseconds(10) - Time::Nanoseconds(200 * i));
    }
    bench.Run();
    EXPECT_EQ(bench.Replay().GetCounters().replayed, 1u);
    EXPECT_EQ(bench.Replay().GetCounters().largestMove, sooner.ToPicoseconds());
    EXPECT_EQ(bench.Duration(0), Time::Microseconds(26.08));
    EXPECT_EQ(bench.Duration(2), Time::Microseconds(26));
    EXPECT_EQ(bench.Duration(3), bench.Duration(1));
    EXPECT_EQ(bench.Any().ActiveFlows(), 0u);
}

/** A request that packet transports refuse is refused. */
TEST(ReplayTransport, RefusesWhatPacketsRefuse)
{
    PacketBench bench;
    TwoLeaves leaves(bench);
    bench.OpenReplay(PlainSpec());
    FlowRequest request;
    request.route = bench.RouteOf(leaves.hostsOf[0][0], leaves.hostsOf[0][1]);
    request.bytes = Bytes(-1);
    EXPECT_THROW(bench.Any().Start(request, Time()), std::invalid_argument);
    EXPECT_THROW(bench.Any().SetLinkRate(LinkId(1000), Rate(), Time()), std::invalid_argument);
}

} // namespace
} // namespace weir
