// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-controls.h"
#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/infiniband.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "fabric/transport/packet/congestion/timely.h"
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir
{
namespace
{

/** Senders and one receiver at a switch. */
struct Incast
{
    Incast(unsigned senders, Rate rate, Time latency, const PacketSpec& spec)
    {
        const uint32_t middle = bench.AddSwitch();
        const uint32_t sink = bench.AddHost();
        std::vector<uint32_t> hosts;
        for (unsigned i = 0; i < senders; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), middle, rate, latency);
        }
        port = bench.Join(middle, sink, rate, latency);
        bench.Open(spec);
        for (const uint32_t host : hosts)
        {
            bench.AddFlow(host, sink, Bytes::GiB(64));
        }
    }

    /** Mean queue, bytes, sampled each microsecond; bytes carried a second. */
    std::pair<double, double> Watch(Time from, Time until)
    {
        bench.RunUntil(from);
        const uint64_t before = bench.Network().Counters(port.Index()).bytes;
        double queued = 0;
        const auto samples = static_cast<int>((until - from) / Time::Microseconds(1));
        for (int i = 1; i <= samples; i++)
        {
            bench.RunUntil(from + Time::Microseconds(i));
            queued += static_cast<double>(bench.Network().QueuedBytes(port.Index())) / samples;
        }
        const uint64_t after = bench.Network().Counters(port.Index()).bytes;
        return {queued, static_cast<double>(after - before) / (until - from).ToSeconds()};
    }

    double RateOf(uint32_t flow)
    {
        return bench.Transport().GetQueuePairs().RateOf(flow);
    }

    PacketBench bench;
    LinkId port;
};

double
JainIndex(const std::vector<double>& rates)
{
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    double squares = 0;
    for (const double rate : rates)
    {
        squares += rate * rate;
    }
    return sum * sum / (squares * static_cast<double>(rates.size()));
}

/**
 * The fixed point of DCQCN's fluid model ("ECN or Delay", Zhu et al., CoNEXT 2016, section 3):
 * p solves a^2 alpha / ((b + d) (c + e)) = tau^2 R_AI R_C, the left side grows with p.
 */
double
FixedPointQueue(
    double packetsPerSecond, unsigned flows, double increase, double from, double all, double most)
{
    const double tau = 50e-6;
    const double alphaTimer = 55e-6;
    const double timer = 55e-6;
    const double bytes = 10000; // packets of 1000 bytes in 10 MB
    const double recovery = 5;
    const double rate = packetsPerSecond / flows;
    const auto left = [&](double p) {
        const double a = 1 - std::pow(1 - p, tau * rate);
        const double alpha = 1 - std::pow(1 - p, alphaTimer * rate);
        const double b = p / (std::pow(1 - p, -bytes) - 1);
        const double c = b * std::pow(1 - p, recovery * bytes);
        const double d = p / (std::pow(1 - p, -timer * rate) - 1);
        const double e = d * std::pow(1 - p, recovery * timer * rate);
        return a * a * alpha / ((b + d) * (c + e)) - tau * tau * increase * rate;
    };
    double low = 1e-9;
    double high = 0.5;
    for (int i = 0; i < 200; i++)
    {
        const double middle = (low + high) / 2;
        (left(middle) < 0 ? low : high) = middle;
    }
    return from + low / most * (all - from);
}

/** The oracle itself gives the published roots: 40 Gb/s, 2, 4, 8 and 10 flows. */
TEST(Dcqcn, FixedPointIsThatOfItsEquation)
{
    // Kmin 5 KB, Kmax 200 KB, Pmax 1 %, 40 Mb/s, packets of 1000 bytes.
    const double packets = 40e9 / 8000;
    const double increase = 40e6 / 8000;
    EXPECT_NEAR(FixedPointQueue(packets, 2, increase, 5, 200, 0.01), 20.15, 0.02);
    EXPECT_NEAR(FixedPointQueue(packets, 4, increase, 5, 200, 0.01), 41.8, 0.1);
    EXPECT_NEAR(FixedPointQueue(packets, 8, increase, 5, 200, 0.01), 93.8, 0.2);
    EXPECT_NEAR(FixedPointQueue(packets, 10, increase, 5, 200, 0.01), 122.6, 0.3);
}

/** Packets stand around the fluid's fixed point: its queue, a full link, equal shares. */
TEST(Dcqcn, StandsAtTheFixedPoint)
{
    for (const unsigned flows : {2u, 8u})
    {
        PacketSpec spec;
        spec.format.mtu = Bytes(1000);
        spec.format.header = 0;
        spec.switches.buffer = Bytes::MiB(64);
        spec.switches.markFrom = Bytes(5000);
        spec.switches.markAll = Bytes(200000);
        spec.switches.markProbability = 0.01;
        Dcqcn control;
        control.notificationInterval = Time::Microseconds(50);
        control.alphaTimer = Time::Microseconds(55);
        control.cutCheck = Time();
        control.increaseTimer = Time::Microseconds(55);
        control.byteCounter = Bytes(10000000);
        control.fastRecovery = 5;
        control.additiveIncrease = Rate::Gbps(0.04);
        control.hyperIncrease = Rate::Gbps(0.04);
        control.alphaGain = 1.0 / 256;
        control.minimumRate = Rate::Gbps(0.01);
        spec.congestionControl = control;
        Incast incast(flows, Rate::Gbps(40), Time::Microseconds(1), spec);
        const auto [queue, carried] =
            incast.Watch(Time::Milliseconds(100), Time::Milliseconds(160));
        const double expected =
            FixedPointQueue(40e9 / 8000, flows, 40e6 / 8000, 5000, 200000, 0.01);
        EXPECT_NEAR(queue, expected, 0.35 * expected) << flows << " flows";
        EXPECT_GT(carried, 0.98 * 5e9);
        std::vector<double> rates;
        for (uint32_t i = 0; i < flows; i++)
        {
            rates.push_back(incast.RateOf(i));
        }
        EXPECT_GT(JainIndex(rates), 0.97);
    }
}

/** HPCC holds the most utilized link at its target, with next to no queue. */
TEST(Hpcc, HoldsItsUtilization)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    Hpcc control;
    control.increase = Rate::Gbps(0.05);
    spec.congestionControl = control;
    Incast incast(4, Rate::Gbps(100), Time::Microseconds(1), spec);
    const auto [queue, carried] = incast.Watch(Time::Milliseconds(2), Time::Milliseconds(4));
    // eta C plus what each flow adds, at most.
    EXPECT_NEAR(carried, 0.95 * 12.5e9, 0.025 * 12.5e9);
    EXPECT_LT(queue, 20000);
}

/**
 * While round trips do not change, between the two thresholds, TIMELY adds the same to every rate:
 * what flows have of a link stays as unequal as it was, so it has no fair fixed point. Patched, all
 * come to delta / (beta x error): a flow's own rate is in the balance.
 */
TEST(Timely, IsUnfairUnlessPatched)
{
    for (const bool patched : {false, true})
    {
        std::vector<double> rates;
        for (const double start : {0.7, 0.3})
        {
            Timely control;
            control.patched = patched;
            control.decrease = patched ? 0.008 : 0.8;
            control.startRate = start;
            control.hyperAfter = 0;
            ConnectionFacts facts;
            facts.lineRate = 10e9;
            facts.baseRtt = Time::Microseconds(4);
            facts.mtu = 1000;
            const auto sender = control.Open(facts);
            Acknowledgment ack;
            ack.rtt = Time::Microseconds(60); // of 50 to 500
            const uint64_t rounds = patched ? 20000 : 100;
            for (uint64_t round = 1; round <= rounds; round++)
            {
                ack.next = 10 * round;
                ack.sent = ack.next + 9;
                sender->OnAck(ack);
            }
            rates.push_back(sender->PacingRate());
        }
        if (patched)
        {
            const double fixed = Rate::Gbps(0.01).ToBytesPerSecond() / (0.008 * (60.0 / 50 - 1));
            EXPECT_NEAR(rates[0], fixed, 1e-3 * fixed);
            EXPECT_NEAR(rates[1], fixed, 1e-3 * fixed);
        }
        else
        {
            EXPECT_NEAR(rates[0] - rates[1], 4e9, 1);
        }
    }
}

/** Swift's delay is its target: the round trip of a bottleneck that one flow fills. */
TEST(Swift, DelayIsItsTarget)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    spec.switches.marks = false;
    Swift control;
    control.target = Time::Microseconds(20);
    control.perHop = Time();
    control.scaling = Time::Nanoseconds(1);
    spec.congestionControl = control;
    Incast incast(2, Rate::Gbps(100), Time::Microseconds(1), spec);
    const auto [queue, carried] = incast.Watch(Time::Milliseconds(10), Time::Milliseconds(12));
    // 20 us less the path's: 4 us of latency, two packets and two acknowledgments.
    const double path = 4e-6 + 2 * (1048 + 84) / 12.5e9;
    EXPECT_NEAR(queue, (20e-6 - path) * 12.5e9, 0.1 * 20e-6 * 12.5e9);
    EXPECT_GT(carried, 0.99 * 12.5e9);
}

/**
 * Entry i of the table pauses i steps of a packet's time behind each packet: the rate is line /
 * (1 + i step). Marks lead on, to the limit at most, and each period of the timer back by one.
 */
TEST(Infiniband, RateIsThatOfItsEntry)
{
    Infiniband control;
    control.increase = 3;
    control.limit = 8;
    control.tableStep = 0.5;
    control.timer = Time::Microseconds(10);
    ConnectionFacts facts;
    facts.lineRate = 10e9;
    const auto sender = control.Open(facts);
    Acknowledgment ack;
    sender->OnAck(ack); // no mark
    EXPECT_EQ(sender->PacingRate(), 10e9);
    EXPECT_TRUE(sender->NextTimer().IsInfinite());
    ack.isMarked = true;
    for (const double entry : {3.0, 6.0, 8.0, 8.0})
    {
        sender->OnAck(ack);
        EXPECT_DOUBLE_EQ(sender->PacingRate(), 10e9 / (1 + 0.5 * entry));
    }
    for (int entry = 7; entry >= 0; entry--)
    {
        EXPECT_EQ(sender->NextTimer(), Time::Microseconds(10 * (8 - entry)));
        sender->OnTimer(sender->NextTimer());
        EXPECT_DOUBLE_EQ(sender->PacingRate(), 10e9 / (1 + 0.5 * entry));
    }
    EXPECT_TRUE(sender->NextTimer().IsInfinite());
}

/** A packet and its pause take (1 + i step) of its time: that is what the link carries. */
TEST(Infiniband, PausesFollowPackets)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 0;
    spec.switches.flowControl = FlowControl::Credits;
    spec.switches.markFrom = spec.switches.markAll = Bytes(0);
    spec.switches.markRoots = true;
    Infiniband control;
    control.limit = 8;
    control.tableStep = 0.125;
    control.timer = Time::Microseconds(1);
    spec.congestionControl = control;
    // Alone nothing waits and nothing is marked: the whole rate.
    Incast alone(1, Rate::Gbps(80), Time::Microseconds(1), spec);
    const double whole = alone.Watch(Time::Milliseconds(1), Time::Milliseconds(2)).second;
    EXPECT_NEAR(whole, 10e9, 0.001 * 10e9);
    // Entry 8 halves the rate: two senders, marked whenever they meet, share the link evenly.
    Incast two(2, Rate::Gbps(80), Time::Microseconds(1), spec);
    const auto [queue, carried] = two.Watch(Time::Milliseconds(1), Time::Milliseconds(2));
    EXPECT_GT(carried, 0.95 * 10e9);
    EXPECT_LT(queue, 100000);
}

/**
 * Of six senders five send to a hot port and one, the victim, to a free one, through an uplink that
 * it shares with one of the five and that has room for both. Credits alone leave the victim as much
 * as the hot port leaves that one, for they take turns; with congestion control the five hold back
 * and the victim has all its port has. The uplink is full for want of credits, which is no root.
 */
TEST(Infiniband, RelievesVictims)
{
    double victim[2];
    double hot[2];
    for (const bool controls : {false, true})
    {
        PacketBench bench;
        const uint32_t left = bench.AddSwitch();
        const uint32_t right = bench.AddSwitch();
        bench.Join(left, right, Rate::Gbps(160), Time::Microseconds(1));
        const uint32_t sink = bench.AddHost();
        const uint32_t free = bench.AddHost();
        const LinkId hotPort = bench.Join(right, sink, Rate::Gbps(80), Time::Microseconds(1));
        const LinkId freePort = bench.Join(right, free, Rate::Gbps(80), Time::Microseconds(1));
        std::vector<uint32_t> hosts;
        for (int i = 0; i < 6; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), i < 2 ? left : right, Rate::Gbps(80), Time::Microseconds(1));
        }
        PacketSpec spec;
        spec.format.mtu = Bytes(1000);
        spec.format.header = 0;
        spec.switches.flowControl = FlowControl::Credits;
        spec.switches.creditBuffer = Bytes(64000);
        spec.switches.markFrom = spec.switches.markAll = Bytes(20000);
        spec.switches.markRoots = true;
        spec.switches.marks = controls;
        Infiniband control;
        control.timer = Time::Microseconds(10);
        spec.congestionControl = control;
        bench.Open(spec);
        bench.AddFlow(hosts[0], free, Bytes::GiB(1));
        for (int i = 1; i < 6; i++)
        {
            bench.AddFlow(hosts[i], sink, Bytes::GiB(1));
        }
        bench.RunUntil(Time::Milliseconds(2));
        const uint64_t before = bench.Network().Counters(freePort.Index()).bytes;
        const uint64_t beforeHot = bench.Network().Counters(hotPort.Index()).bytes;
        bench.RunUntil(Time::Milliseconds(6));
        const double seconds = 4e-3 * 10e9;
        victim[controls] =
            static_cast<double>(bench.Network().Counters(freePort.Index()).bytes - before) /
            seconds;
        hot[controls] =
            static_cast<double>(bench.Network().Counters(hotPort.Index()).bytes - beforeHot) /
            seconds;
    }
    // A fifth of the hot port is left for the sender that the victim shares the uplink with.
    EXPECT_NEAR(victim[0], 0.2, 0.05);
    EXPECT_GT(victim[1], 0.95);
    EXPECT_GT(hot[0], 0.99);
    EXPECT_GT(hot[1], 0.8); // rates swing around what is left for each
}

/** Every control of the registry carries two flows through a bottleneck to their ends. */
TEST(CongestionControls, AllEndTheirFlows)
{
    for (const Polymorphic<CongestionControl>& control : CongestionControls())
    {
        PacketBench bench;
        const uint32_t middle = bench.AddSwitch();
        const uint32_t sink = bench.AddHost();
        const uint32_t a = bench.AddHost();
        const uint32_t b = bench.AddHost();
        for (const uint32_t host : {sink, a, b})
        {
            bench.Join(middle, host, Rate::Gbps(100), Time::Microseconds(1));
        }
        PacketSpec spec;
        spec.congestionControl = control;
        bench.Open(spec);
        bench.AddFlow(a, sink, Bytes(4000000));
        bench.AddFlow(b, sink, Bytes(4000000));
        bench.Run();
        // Not faster than the bytes allow, and not below a twentieth of the link.
        const double least = 2 * 4e6 * (4096 + 82) / 4096 / 12.5e9;
        const double last = std::max(bench.Duration(0), bench.Duration(1)).ToSeconds();
        EXPECT_GT(last, least) << control->Name();
        EXPECT_LT(last, 20 * least) << control->Name();
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u) << control->Name();
    }
}

} // namespace
} // namespace weir
