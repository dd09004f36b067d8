// SPDX-License-Identifier: GPL-2.0-only
#include "packet-bench.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

/**
 * @file
 * SwitchSpec::classByHop: traffic classes that rise along a path, so that lossless switches cannot
 * wait for each other in a cycle.
 *
 * A dragonfly of three groups of two routers. Hosts on the first router of a group send to hosts on
 * the second router of the next group, over shortest paths: local, global, local link.
 *
 *     a0 - a1 ==> b0 - b1 ==> c0 - c1 ==> a0
 *
 * Packets that enter a group wait for its local link behind packets that leave the group; the
 * packets that leave wait for the local link of the next group.
 */
namespace weir
{
namespace
{

constexpr unsigned GROUPS = 3;
constexpr unsigned HOSTS = 2; //!< per group: senders on its first router, receivers on its second

/** Builds the dragonfly and starts its flows of 10 MB. */
void
Fill(PacketBench& bench, const PacketSpec& spec)
{
    std::vector<uint32_t> routers;
    std::vector<std::vector<LinkId>> up(GROUPS);
    std::vector<std::vector<LinkId>> down(GROUPS);
    std::vector<LinkId> local;
    std::vector<LinkId> global;
    const Rate rate = Rate::Gbps(80);
    const Time latency = Time::Nanoseconds(500);
    for (unsigned g = 0; g < GROUPS; g++)
    {
        for (unsigned r = 0; r < 2; r++)
        {
            routers.push_back(bench.AddSwitch());
            bench.SetGroup(routers.back(), g);
        }
        for (unsigned h = 0; h < HOSTS; h++)
        {
            up[g].push_back(bench.Join(bench.AddHost(), routers[2 * g], rate, latency));
            down[g].push_back(bench.Join(routers[2 * g + 1], bench.AddHost(), rate, latency));
        }
        local.push_back(bench.Join(routers[2 * g], routers[2 * g + 1], rate, latency));
    }
    for (unsigned g = 0; g < GROUPS; g++)
    {
        global.push_back(
            bench.Join(routers[2 * g + 1], routers[2 * ((g + 1) % GROUPS)], rate, latency));
    }
    bench.Open(spec);
    for (unsigned g = 0; g < GROUPS; g++)
    {
        const unsigned next = (g + 1) % GROUPS;
        for (unsigned h = 0; h < HOSTS; h++)
        {
            bench.AddFlow(bench.GetRouting().AddPinned(
                              {up[g][h], local[g], global[g], local[next], down[next][h]}),
                          Bytes(10'000'000));
        }
    }
}

/** Lossless switches with small buffers. */
PacketSpec
LosslessSpec(FlowControl flowControl, unsigned classes)
{
    PacketSpec spec;
    spec.format.mtu = Bytes(1000);
    spec.format.header = 48;
    spec.trafficClasses = classes;
    spec.switches.marks = false;
    spec.switches.flowControl = flowControl;
    spec.switches.losslessClasses = classes;
    spec.switches.buffer = Bytes(400'000);
    spec.switches.reserve = Bytes(0);
    return spec;
}

TEST(ClassByHop, WithoutItADragonflyDeadlocks)
{
    for (const FlowControl flowControl : {FlowControl::Pfc, FlowControl::Credits})
    {
        PacketBench bench;
        Fill(bench, LosslessSpec(flowControl, 2));
        bench.RunUntil(Time::Milliseconds(50));
        EXPECT_TRUE(bench.Duration(0).IsInfinite());
        EXPECT_NE(bench.Transport().DescribeWaiting().find("deadlock"), std::string::npos);
    }
}

/**
 * With a second class after the global link, packets of that class wait for hosts only, and packets
 * of the first class wait only for packets of the second: no cycle. Closed form: each of the three
 * local links carries 20 MB from its group and 20 MB to it, 4.2 ms with headers if no link is ever
 * idle.
 */
TEST(ClassByHop, WithItADragonflyEnds)
{
    for (const FlowControl flowControl : {FlowControl::Pfc, FlowControl::Credits})
    {
        PacketSpec spec = LosslessSpec(flowControl, 2);
        spec.switches.classByHop = true;
        PacketBench bench;
        Fill(bench, spec);
        bench.RunUntil(Time::Milliseconds(50));
        EXPECT_EQ(bench.Transport().DescribeWaiting(), "");
        EXPECT_EQ(bench.Transport().GetQueuePairs().Counters().lost, 0u);
        const double min = 40e6 * 1.048 / 1e10;
        for (unsigned flow = 0; flow < GROUPS * HOSTS; flow++)
        {
            EXPECT_LT(bench.Duration(flow).ToSeconds(), 1.1 * min);
        }
    }
}

/** A path of two local links around a global link needs two classes, and both must be lossless. */
TEST(ClassByHop, RefusesPathsOfMoreClassesThanThereAre)
{
    const auto refusal = [](unsigned classes, unsigned lossless) {
        PacketSpec spec = LosslessSpec(FlowControl::Pfc, classes);
        spec.switches.losslessClasses = lossless;
        spec.switches.classByHop = true;
        PacketBench bench;
        try
        {
            Fill(bench, spec);
            bench.Run();
        }
        catch (const std::invalid_argument& error)
        {
            const std::string text = error.what();
            return text.substr(0, text.find(','));
        }
        return std::string();
    };
    EXPECT_EQ(refusal(1, 1), "trafficClasses: found 1");
    EXPECT_EQ(refusal(2, 1), "switch.losslessClasses: found 1");
}

} // namespace
} // namespace weir
