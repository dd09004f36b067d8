// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/nccl/kernel-times.h"

#include "collective-bench.h"
#include "collectives/channels/message-cost.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

namespace weir
{

namespace
{

// The release decides what NCCL chooses, not how long a kernel takes: the same call, forced to the
// same shape, lasts as long under 2.16 as under 2.30.
TEST(KernelTimes, AreTheSameInEveryRelease)
{
    for (const auto protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
    {
        const auto time = [&](const char* release) {
            CollectiveBench bench(H100Boxes(1), release);
            const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
            auto call =
                WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::KiB(64)), protocol);
            call.overrides.algorithm = Algorithm::Ring;
            call.overrides.channels = 4;
            return bench.GetPlanner().Plan(call).duration;
        };
        EXPECT_EQ(time("2.16.2"), time("2.30.7")) << ToString(protocol);
    }
}

// LL moves 4 KiB in a pass of the block's threads: a chunk of 8 passes takes as long as 8 passes
// and 0.3 us, whatever the link could carry.
TEST(KernelTimes, LlIsBoundByItsBlock)
{
    const KernelTimes times(90, HostCpu::Intel);
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::KiB(256)), Protocol::Ll);
    call.overrides.algorithm = Algorithm::Ring;
    call.overrides.channels = 1;
    const Time step = Bytes::KiB(32) / times.LlBlockRate() + Time::Microseconds(0.3);
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToMicroseconds(),
                (Time::Microseconds(5) + step * 14).ToMicroseconds(),
                0.01);
}

// A broadcast's root need not wait for the ranks behind it: calls in a row come at the wire's pace,
// without the way and the filling of the pipeline. An all-reduce ends everywhere at once.
TEST(CallsInARow, ABroadcastRunsAhead)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto plan = [&](CollectiveOp op) {
        return bench.GetPlanner().Plan(
            WithProtocol(MakeCall(id, op, Bytes::MiB(240)), Protocol::Simple));
    };
    const auto broadcast = plan(CollectiveOp::Broadcast);
    const Time way = Time::Microseconds(7 * 3.4);
    const Time fill = (broadcast.duration - broadcast.latency) * (6 * 512.0 * 24 / (240 << 10));
    EXPECT_NEAR((broadcast.duration - broadcast.period).ToMicroseconds(),
                (way + fill).ToMicroseconds(),
                0.01);
    const auto allReduce = plan(CollectiveOp::AllReduce);
    EXPECT_EQ(allReduce.duration, allReduce.period);
}

// Four launches of 4.2 us, and 24 blocks: 1.55 us each before NCCL 2.19, 0.2 us since; one process
// a GPU has neither.
TEST(Launch, OneProcessPaysByGpuAndByBlock)
{
    const auto before = NcclVersion::Parse("2.18.5");
    const auto since = NcclVersion::Parse("2.19.3");
    EXPECT_EQ(LaunchTime(LaunchMode::OneProcess, 4), Time::Microseconds(16.8));
    EXPECT_EQ(BlockLaunchTime(LaunchMode::OneProcess, before, 24), Time::Microseconds(37.2));
    EXPECT_EQ(BlockLaunchTime(LaunchMode::OneProcess, since, 24), Time::Microseconds(4.8));
    EXPECT_EQ(BlockLaunchTime(LaunchMode::ProcessPerGpu, before, 24), Time());
    EXPECT_EQ(IdleLaunchTime(LaunchMode::ProcessPerGpu), Time());
    EXPECT_GT(IdleLaunchTime(LaunchMode::Waited), Time());
}

/** Two of the reference's GH200 nodes; their 4 NICs carry two channels each, in and out. */
ClusterSpec
SlingshotNodes(NetTransport transport)
{
    ClusterSpec spec = Gh200Nodes(4);
    spec.node.transport = transport;
    return spec;
}

double
RingMicroseconds(NetTransport transport, Bytes bytes, Fidelity fidelity)
{
    CollectiveBench bench(SlingshotNodes(transport));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, bytes), Protocol::Simple);
    call.overrides.algorithm = Algorithm::Ring;
    return bench.Run(fidelity, call).ToMicroseconds();
}

// A process handles the messages of two channels, in and out, one after the other, 5.5 us each: a
// slice leaves every 22 us however small, so 2 x 15 steps of 2 slices take 60 x 22 us and more. On
// InfiniBand they do not; and at 1 GiB, where a slice is on the wire for longer, nowhere.
TEST(MessageCost, HandlingBoundsSmallSlicesOverSlingshot)
{
    for (const auto fidelity : {Fidelity::Analytical, Fidelity::Flow})
    {
        const auto time = [&](NetTransport transport, Bytes bytes) {
            return RingMicroseconds(transport, bytes, fidelity);
        };
        EXPECT_GT(time(NetTransport::Slingshot, Bytes::MiB(16)), 60 * 22);
        EXPECT_LT(time(NetTransport::Slingshot, Bytes::MiB(16)), 60 * 22 * 1.1);
        EXPECT_LT(time(NetTransport::Infiniband, Bytes::MiB(16)), 60 * 22 / 2);
        EXPECT_NEAR(time(NetTransport::Slingshot, Bytes::GiB(1)) /
                        time(NetTransport::Infiniband, Bytes::GiB(1)),
                    1,
                    0.01);
    }
}

// Asking costs LL a rendezvous on each of a tree's 2 x 2 network hops, from the size on at which a
// message is more than eager; one channel has no other to wait for.
TEST(MessageCost, LlAsksForMoreThanEager)
{
    const auto time = [](NetTransport transport, Bytes bytes) {
        CollectiveBench bench(SlingshotNodes(transport));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, bytes), Protocol::Ll);
        call.overrides.algorithm = Algorithm::Tree;
        call.overrides.channels = 1;
        return bench.GetPlanner().Plan(call).duration;
    };
    const MessageCost cost = MessageCostOf(NetTransport::Slingshot);
    const Bytes eager(cost.eager.Count() / 2); // of data
    EXPECT_EQ(time(NetTransport::Slingshot, eager), time(NetTransport::Infiniband, eager));
    EXPECT_EQ(time(NetTransport::Slingshot, eager * 2) - time(NetTransport::Infiniband, eager * 2),
              cost.rendezvous * 4);
}

// 16 channels become 24 by copying; 24 of one node are cut to 4.
TEST(ChannelLimits, CopyAndCut)
{
    const auto channels = [](const ClusterSpec& spec, ChannelLimits limits) {
        NcclSettings settings;
        settings.channelLimits = limits;
        CollectiveBench bench(spec, settings);
        const auto id = bench.GetPlanner().AddCommunicator(
            FirstGpus(bench.GetFabric().GetCluster().GpuCount()));
        return bench.GetPlanner().GetCommunicator(id).channels.size();
    };
    EXPECT_EQ(channels(H100Boxes(2), {}), 16U);
    EXPECT_EQ(channels(H100Boxes(2), {24, 128}), 24U);
    EXPECT_EQ(channels(H100Boxes(1), {1, 4}), 4U);
}

} // namespace

} // namespace weir
