// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/replay/service-windows.h"
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weir
{
namespace
{

/**
 * Span of the agreeing windows of a connection that has been served @p served bytes in total at the
 * end of each unit.
 */
std::optional<ServiceWindows::Span>
SpanOf(const std::vector<double>& served)
{
    ServiceWindows windows(0.01);
    windows.NumberOf(ConnectionKey(FlowRequest()));
    windows.Widen(10);
    windows.Restart(0);
    std::optional<ServiceWindows::Span> span;
    for (const double bytes : served)
    {
        windows.At(0).open = bytes;
        windows.Mark(windows.NextMark(), 0, {});
        span = windows.Find();
    }
    return span;
}

/**
 * Three equal windows agree after one skipped unit: at five marks, and the span begins at the
 * second.
 */
TEST(ServiceWindows, EqualWindowsAgree)
{
    EXPECT_FALSE(SpanOf({0, 100, 200, 300}));
    const auto span = SpanOf({0, 100, 200, 300, 400});
    ASSERT_TRUE(span);
    EXPECT_EQ(span->begin, 10);
    EXPECT_EQ(span->time, 30);
}

/**
 * A rate that grows by a thousandth per unit is within 1 % over three units, but has not settled.
 */
TEST(ServiceWindows, WhatGrowsHasNotSettled)
{
    std::vector<double> served{0};
    double rate = 100;
    for (int i = 0; i < 96; i++)
    {
        served.push_back(served.back() + rate);
        rate *= 1.001;
        EXPECT_FALSE(SpanOf(served)) << i;
    }
}

/** A rate that alternates between 100 and 150 per unit agrees over windows of two units. */
TEST(ServiceWindows, SwingsAgreeOverTheirPeriod)
{
    std::vector<double> served{0};
    for (int i = 0; i < 8; i++)
    {
        served.push_back(served.back() + (i % 2 == 0 ? 100 : 150));
        EXPECT_EQ(SpanOf(served).has_value(), i == 7) << i;
    }
}

/** Hosts that send to one host over a switch, at 100 Gb/s. */
struct Incast
{
    explicit Incast(PacketBench& bench, int senders)
    {
        const uint32_t middle = bench.AddSwitch();
        for (int i = 0; i <= senders; i++)
        {
            hosts.push_back(bench.AddHost());
            bench.Join(hosts.back(), middle, Rate::Gbps(100), Time::Microseconds(1));
        }
    }

    std::vector<uint32_t> hosts;
};

/** Durations of flows, and counters of the port to the receiver. */
struct Outcome
{
    std::vector<Time> durations;
    PortCounters port;
    ReplayCounters counters; //!< of replayed or settled traffic
    uint64_t events{0};
};

/** A flow to the first host of an incast. */
struct Sent
{
    std::size_t sender;
    Bytes bytes;
    Time start;
};

Outcome
Play(const std::string& control, double tolerance, const std::vector<Sent>& flows, Time slowAt)
{
    PacketBench bench;
    const Incast incast(bench, 4);
    PacketSpec spec;
    spec.congestionControl = *CongestionControls().Find(control);
    spec.settle.tolerance = tolerance;
    if (tolerance > 0)
    {
        bench.OpenReplay(spec);
    }
    else
    {
        bench.Open(spec);
    }
    std::vector<RouteId> routes;
    for (std::size_t i = 1; i <= 4; i++)
    {
        routes.push_back(bench.RouteOf(incast.hosts[i], incast.hosts[0]));
    }
    for (const Sent& flow : flows)
    {
        bench.AddFlow(routes[flow.sender], flow.bytes, flow.start);
    }
    const LinkId last =
        bench.GetRouting().Paths().Links(bench.GetRouting().CurrentPath(routes[0])).back().link;
    bench.RunUntil(slowAt);
    bench.Any().SetLinkRate(last, Rate::Gbps(50), slowAt);
    bench.Run();
    Outcome outcome;
    for (std::size_t i = 0; i < flows.size(); i++)
    {
        outcome.durations.push_back(bench.Duration(i));
    }
    outcome.port = *bench.Any().GetPortCounters(last);
    if (tolerance > 0)
    {
        outcome.counters = bench.Replay().GetCounters();
    }
    outcome.events = tolerance > 0 ? outcome.counters.events : bench.Transport().Events();
    return outcome;
}

double
Mean(const std::vector<Time>& times)
{
    double sum = 0;
    for (const Time time : times)
    {
        sum += time.ToSeconds();
    }
    return sum / static_cast<double>(times.size());
}

/**
 * Four flows of 100 MB share a port, and their windows oscillate under PowerTCP. A fifth flow
 * starts at 10 ms, and the port's rate halves at 30 ms. Packets are simulated after each of these
 * changes and for a few windows of 0.35 ms. Durations of flows and counters of the port equal those
 * of the packet simulation within the tolerance.
 */
TEST(SettlingPackets, LongFlowsAreServedAtTheirMeans)
{
    const std::vector<Sent> flows{{0, Bytes(100'000'000), Time()},
                                  {1, Bytes(100'000'000), Time()},
                                  {2, Bytes(100'000'000), Time()},
                                  {3, Bytes(100'000'000), Time()},
                                  {0, Bytes(25'000'000), Time::Milliseconds(10)}};
    const Time slowAt = Time::Milliseconds(30);
    const Outcome all = Play("powertcp", 0, flows, slowAt);
    const Outcome settled = Play("powertcp", 0.01, flows, slowAt);
    for (std::size_t i = 0; i < flows.size(); i++)
    {
        EXPECT_NEAR(settled.durations[i] / all.durations[i], 1, 0.01) << i;
    }
    EXPECT_GE(settled.counters.settled.periods, 4u);
    EXPECT_LT(settled.events, all.events / 2);
    const auto packets = static_cast<double>(all.port.packets);
    EXPECT_NEAR(static_cast<double>(settled.port.packets), packets, 0.01 * packets);
    EXPECT_NEAR(settled.port.busy * 1e-12, all.port.busy * 1e-12, 0.01 * all.port.busy * 1e-12);
}

/** Connections that end release their rates to the remaining ones. */
TEST(SettlingPackets, ConnectionsThatEndLeaveTheirRates)
{
    std::vector<Sent> flows;
    for (std::size_t sender = 0; sender < 4; sender++)
    {
        for (const int64_t bytes : {20'000'000, 30'000'000, 40'000'000})
        {
            flows.push_back({sender, Bytes(bytes), Time()});
        }
    }
    const Outcome all = Play("powertcp", 0, flows, Time::Seconds(1));
    const Outcome settled = Play("powertcp", 0.01, flows, Time::Seconds(1));
    for (std::size_t i = 0; i < flows.size(); i++)
    {
        EXPECT_NEAR(settled.durations[i] / all.durations[i], 1, 0.01) << i;
    }
    EXPECT_GT(settled.counters.settled.periods, 0u);
    const auto bytes = static_cast<double>(all.port.bytes);
    EXPECT_NEAR(static_cast<double>(settled.port.bytes), bytes, 0.01 * bytes);
}

/** With a tolerance that nothing meets, durations equal those of the packet simulation. */
TEST(SettlingPackets, NothingSettlesToAMillionthOfAMillionth)
{
    const std::vector<Sent> flows{{0, Bytes(1'000'000), Time()}, {1, Bytes(1'000'000), Time()}};
    const Outcome all = Play("powertcp", 0, flows, Time::Seconds(1));
    const Outcome settled = Play("powertcp", 1e-15, flows, Time::Seconds(1));
    EXPECT_EQ(settled.durations, all.durations);
}

/**
 * Messages of 100 kB (8 us) from two hosts, every 40.2 us and every 54.6 us, next to a long flow:
 * individual delays differ, but the mean duration equals that of the packet simulation.
 */
TEST(SettlingPackets, MessagesAreServedAsThoseBeforeThem)
{
    const Time gaps[] = {Time::Nanoseconds(40200), Time::Nanoseconds(54600)};
    std::vector<Sent> flows{{2, Bytes(800'000'000), Time()}};
    for (std::size_t sender = 0; sender < 2; sender++)
    {
        for (int64_t i = 0; gaps[sender] * i < Time::Milliseconds(100); i++)
        {
            flows.push_back({sender, Bytes(100'000), gaps[sender] * i});
        }
    }
    std::stable_sort(
        flows.begin(), flows.end(), [](const Sent& a, const Sent& b) { return a.start < b.start; });
    const Outcome all = Play("powertcp", 0, flows, Time::Seconds(1));
    const Outcome settled = Play("powertcp", 0.01, flows, Time::Seconds(1));
    EXPECT_NEAR(Mean(settled.durations) / Mean(all.durations), 1, 0.01);
    EXPECT_GT(settled.counters.settled.flows, flows.size() / 2);
}

/** Without a tolerance nothing is averaged. */
TEST(SettlingPackets, ExactReplaysAreNotAveraged)
{
    const std::vector<Sent> flows{{0, Bytes(50'000'000), Time()}, {1, Bytes(50'000'000), Time()}};
    const Outcome all = Play("powertcp", 0, flows, Time::Seconds(1));
    PacketBench bench;
    const Incast incast(bench, 4);
    PacketSpec spec;
    spec.congestionControl = *CongestionControls().Find("powertcp");
    spec.settle.replay = true;
    bench.OpenReplay(spec);
    bench.AddFlow(incast.hosts[1], incast.hosts[0], flows[0].bytes);
    bench.AddFlow(incast.hosts[2], incast.hosts[0], flows[1].bytes);
    bench.Run();
    EXPECT_EQ(bench.Replay().GetCounters().settled.periods, 0u);
    EXPECT_EQ(bench.Duration(0), all.durations[0]);
}

} // namespace
} // namespace weir
