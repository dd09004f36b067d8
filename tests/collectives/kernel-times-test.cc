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

// The release decides what NCCL chooses, not how long a kernel takes: a call forced to the same
// shape takes equally long under 2.16 and 2.30.
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

/**
 * Time of a ring all-reduce under LL on 8 GPUs with one channel: 14 steps of an eighth of @p bytes.
 */
double
LlRingMicroseconds(const ClusterSpec& spec, Bytes bytes)
{
    CollectiveBench bench(spec);
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, bytes), Protocol::Ll);
    call.overrides.algorithm = Algorithm::Ring;
    call.overrides.channels = 1;
    return bench.GetPlanner().Plan(call).duration.ToMicroseconds();
}

// LL moves 4 KiB per pass of the block's threads: a chunk of 8 passes takes 0.59 + 0.43 us for the
// first pass plus 7 further passes, whatever the link could carry.
TEST(KernelTimes, LlIsBoundByItsBlock)
{
    const KernelTimes times(H100Boxes(1).node);
    const double more =
        (Bytes::KiB(28) / times.Costs().RateOf(NodeCostKind::LlBlockRate)).ToMicroseconds();
    EXPECT_NEAR(
        LlRingMicroseconds(H100Boxes(1), Bytes::KiB(256)), 5 + 14 * (1.02 + more), ROUNDING);
}

// A step ends when its last flag word has arrived: from one word of 8 bytes to 512 the time grows
// by 0.43 us with the logarithm, so 16 words are 4 / 9 of that. A started pass counts as a whole
// one: 5 KiB take as long as 8 KiB.
TEST(KernelTimes, AnLlStepWaitsForTheLastOfItsLines)
{
    const auto step = [](int64_t bytes) {
        return (LlRingMicroseconds(H100Boxes(1), Bytes(8 * bytes)) - 5) / 14;
    };
    EXPECT_NEAR(step(16), 0.59 + 0.43 / 9, ROUNDING); // chunks are multiples of 16 bytes
    EXPECT_NEAR(step(16 * 8), 0.59 + 0.43 * 4 / 9, ROUNDING);
    EXPECT_NEAR(step(4096), 0.59 + 0.43, ROUNDING);
    EXPECT_NEAR(step(5120), step(8192), ROUNDING);
}

// Work of the SMs scales with their clock: an A100 takes 1.98 / 1.41 times as long as an H100 for a
// call and a step of one word; the wire makes no difference.
TEST(KernelTimes, LlGoesByTheClock)
{
    EXPECT_NEAR(LlRingMicroseconds(A100Boxes(1), Bytes(64)),
                LlRingMicroseconds(H100Boxes(1), Bytes(64)) * 1.98 / 1.41,
                ROUNDING);
}

// The root of a broadcast does not wait for the ranks behind it: back-to-back calls follow at the
// wire's pace, without the path latency and the pipeline fill. An all-reduce ends at all ranks at
// once.
TEST(CallsInARow, ABroadcastRunsAhead)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto plan = [&](CollectiveOp op) {
        return bench.GetPlanner().Plan(
            WithProtocol(MakeCall(id, op, Bytes::MiB(240)), Protocol::Simple));
    };
    const auto broadcast = plan(CollectiveOp::Broadcast);
    const Time path = Time::Microseconds(7 * 3.4);
    const Time fill = (broadcast.duration - broadcast.latency) * (6 * 512.0 * 24 / (240 << 10));
    EXPECT_NEAR((broadcast.duration - broadcast.period).ToMicroseconds(),
                (path + fill).ToMicroseconds(),
                ROUNDING);
    const auto allReduce = plan(CollectiveOp::AllReduce);
    EXPECT_EQ(allReduce.duration, allReduce.period);
}

// Four launches of 4.2 us; 24 blocks at 1.55 us each before NCCL 2.19, 0.2 us since. With one
// process per GPU there is neither.
TEST(Launch, OneProcessPaysByGpuAndByBlock)
{
    const NodeCosts costs(A100Boxes(1).node);
    const auto before = NcclVersion::Parse("2.18.5");
    const auto since = NcclVersion::Parse("2.19.3");
    EXPECT_EQ(LaunchTime(costs, LaunchMode::OneProcess, 4), Time::Microseconds(16.8));
    EXPECT_EQ(BlockLaunchTime(costs, LaunchMode::OneProcess, before, 24), Time::Microseconds(37.2));
    EXPECT_EQ(BlockLaunchTime(costs, LaunchMode::OneProcess, since, 24), Time::Microseconds(4.8));
    EXPECT_EQ(BlockLaunchTime(costs, LaunchMode::ProcessPerGpu, before, 24), Time());
    EXPECT_EQ(LaunchTime(costs, LaunchMode::Threads, 4), Time::Microseconds(4.2)); // in parallel
    EXPECT_EQ(IdleLaunchTime(costs, LaunchMode::ProcessPerGpu), Time());
    EXPECT_GT(IdleLaunchTime(costs, LaunchMode::Waited), Time());
}

// The default costs of verbs, fitted to five clusters, add 3.7 us to each of a tree's two network
// hops; the reference machines have NCCL's step latencies only.
TEST(MessageCost, VerbsTakeMoreThanNcclsSteps)
{
    const auto time = [](bool stepsAlone) {
        ClusterSpec spec = H100Boxes(2);
        if (!stepsAlone)
        {
            spec.node.costs.clear();
        }
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes(8)), Protocol::Ll);
        call.overrides.algorithm = Algorithm::Tree;
        return bench.GetPlanner().Plan(call).duration;
    };
    EXPECT_NEAR((time(false) - time(true)).ToMicroseconds(), 2 * 3.7, ROUNDING);
}

// The transport's software cost per message is part of every network step, under every protocol: a
// tree over 2 nodes has 2 steps, one up and one down.
TEST(MessageCost, TransportsHaveStepsOfTheirOwn)
{
    const auto time = [](NetTransport transport, Protocol protocol) {
        ClusterSpec spec = H100Boxes(2);
        SetTransport(spec.node, transport);
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes(8)), protocol);
        call.overrides.algorithm = Algorithm::Tree;
        call.overrides.channels = 1;
        return bench.GetPlanner().Plan(call).duration;
    };
    // Different frame lengths change the time of a few bytes by a few nanoseconds.
    constexpr double FRAMES = 0.01;
    for (const auto protocol : {Protocol::Ll, Protocol::Ll128, Protocol::Simple})
    {
        const auto more = [&](NetTransport transport) {
            return (time(transport, protocol) - time(NetTransport::Infiniband, protocol))
                .ToMicroseconds();
        };
        EXPECT_NEAR(more(NetTransport::Roce), 0, FRAMES);
        EXPECT_NEAR(more(NetTransport::Efa), 2 * 20, FRAMES);
        EXPECT_NEAR(more(NetTransport::Tcp), 2 * 49, FRAMES);
    }
}

/** Four GH200 nodes; each of a node's 4 NICs carries two channels, in and out. */
ClusterSpec
SlingshotNodes(NetTransport transport)
{
    ClusterSpec spec = Gh200Nodes(4);
    SetTransport(spec.node, transport);
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

// A proxy handles the messages of two channels, in and out, sequentially at 5.5 us each: a slice
// leaves every 22 us however small, so 2 x 15 steps of 2 slices take at least 60 x 22 us.
// InfiniBand has no such cost, and at 1 GiB, where a slice is longer on the wire, it is hidden.
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
                    1e-4);
    }
}

// An LL message over Slingshot adds the NIC's fetch to each of a tree's 2 x 2 network hops when it
// is too large to be inlined, and the rendezvous when it is too large to be eager.
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
    const MessageCost cost{NodeCosts(SlingshotNodes(NetTransport::Slingshot).node)};
    const auto more = [&](Bytes data) {
        return time(NetTransport::Slingshot, data) - time(NetTransport::Infiniband, data);
    };
    EXPECT_EQ(more(Bytes(cost.inlined.Count() / 2)), Time());
    EXPECT_EQ(more(Bytes(cost.eager.Count() / 2)), cost.fetch * 4);
    EXPECT_EQ(more(cost.eager), (cost.fetch + cost.rendezvous) * 4);
}

// Over Slingshot, a tree's messages of 512 KiB are read when they are announced, concurrently: a
// message followed by three others shares the wire with them and arrives three wire times later. At
// most four are in flight where a proxy serves two channels with two children each (16 steps for 4
// connections). A single message, and queue pairs of InfiniBand, have no such delay.
TEST(MessageCost, AnnouncedMessagesShareTheWire)
{
    const auto later = [](NetTransport transport, uint64_t count) {
        const MessageCost cost{NodeCosts(SlingshotNodes(transport).node)};
        return cost.TrainTime(Protocol::Simple, {Bytes::KiB(512), count, 2, Rate::GBps(25)})
            .ToMicroseconds();
    };
    const double wire = 524288 / 25e3;
    EXPECT_EQ(later(NetTransport::Slingshot, 1), 0);
    EXPECT_NEAR(later(NetTransport::Slingshot, 2), wire, ROUNDING);
    EXPECT_NEAR(later(NetTransport::Slingshot, 4), 3 * wire, ROUNDING);
    EXPECT_NEAR(later(NetTransport::Slingshot, 100), 3 * wire, ROUNDING);
    EXPECT_EQ(later(NetTransport::Infiniband, 4), 0);
}

// The same in a call: a tree on 4 nodes is 2 hops deep. Over each of 4 network hops the second of
// two chunks arrives one chunk's wire time later, minus the part hidden by the queues of the ports;
// a single chunk pays only the NIC's fetch.
TEST(MessageCost, ATreesHopsWaitForWhatFollows)
{
    const auto time = [](NetTransport transport, Bytes bytes) {
        CollectiveBench bench(SlingshotNodes(transport));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, bytes), Protocol::Simple);
        call.overrides.algorithm = Algorithm::Tree;
        call.overrides.channels = 1;
        const double planned = bench.GetPlanner().Plan(call).duration.ToMicroseconds();
        EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToMicroseconds(), planned, ROUNDING);
        return planned;
    };
    const auto more = [&](Bytes bytes) {
        return time(NetTransport::Slingshot, bytes) - time(NetTransport::Infiniband, bytes);
    };
    EXPECT_NEAR(more(Bytes::KiB(512)), 4 * 1.0, ROUNDING);
    EXPECT_GT(more(Bytes::KiB(1024)), 4 * 1.0 + 3 * 524288 / 25e3);
    EXPECT_LT(more(Bytes::KiB(1024)), 4 * (1.0 + 524288 / 25e3) + ROUNDING);
}

// Under LL the single thread of a proxy polls every 16-byte flag word of the messages that it
// sends: a higher cost per word adds the number of words of a message to each network hop. LL128 is
// unaffected, because its messages are in the GPU's memory.
TEST(MessageCost, LlLinesAreLookedFor)
{
    const auto time = [](Protocol protocol, double line) {
        ClusterSpec spec = Gh200Nodes(4);
        spec.node.costs = {{"proxyPoll", line, "test"}};
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(16));
        auto call = WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::KiB(8)), protocol);
        call.overrides.algorithm = Algorithm::Tree;
        call.overrides.channels = 1;
        return bench.GetPlanner().Plan(call).duration;
    };
    const double lines = 2 * 8192 / 16;
    EXPECT_NEAR((time(Protocol::Ll, 0.008) - time(Protocol::Ll, 0.004)).ToMicroseconds(),
                4 * lines * 0.004,
                ROUNDING);
    EXPECT_EQ(time(Protocol::Ll128, 0.008), time(Protocol::Ll128, 0.004));
}

// An all-gather on 2 nodes of 4 GPUs sends 7 messages over a connection, which has 8 slots under
// LL: all receives are posted in advance. On 4 nodes 15 messages wait for slots, and the handling
// time counts for each connection in and out of a proxy, here one channel at two of a node's GPUs.
TEST(MessageCost, MessagesThatFitTheSlotsDoNotWait)
{
    const auto more = [](uint32_t nodes) {
        const auto time = [&](double handling) {
            ClusterSpec spec = Gh200Nodes(nodes);
            SetTransport(spec.node, NetTransport::Slingshot);
            spec.node.costs = {{"messageHandling", handling, "test"}};
            CollectiveBench bench(spec);
            const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(4 * nodes));
            const Bytes bytes = Bytes::KiB(8) * (4 * nodes);
            auto call = WithProtocol(MakeCall(id, CollectiveOp::AllGather, bytes), Protocol::Ll);
            call.overrides.channels = 1;
            return bench.GetPlanner().Plan(call).duration;
        };
        return time(50) - time(0);
    };
    EXPECT_EQ(more(2), Time());
    EXPECT_GT(more(4), Time::Microseconds(15 * 50 / 2));
}

// The root of a broadcast that stores over PCIe waits for its fence under Simple, not under LL; the
// end of a kernel waits for the round trip of its last stores.
TEST(CallsInARow, StoresOverPcieAreWaitedFor)
{
    const auto period = [](Protocol protocol, double socketNanoseconds) {
        ClusterSpec spec = A100Boxes(1);
        spec.node.wiring = NvLinkWiring::None;
        spec.node.gpus = 2;
        spec.node.pcieSwitches = 0;
        spec.node.gpuAttachments = {{PcieParent::Socket, 0, {}}, {PcieParent::Socket, 1, {}}};
        spec.node.interSocket = ReferenceLink("socket", 22, socketNanoseconds);
        CollectiveBench bench(spec);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(2));
        auto call = WithProtocol(MakeCall(id, CollectiveOp::Broadcast, Bytes(8)), protocol);
        call.overrides.channels = 1;
        return bench.GetPlanner().Plan(call).period.ToMicroseconds();
    };
    const NodeCosts costs(A100Boxes(1).node);
    const double fence = costs.TimeOf(NodeCostKind::SimplePcieStep).ToMicroseconds();
    const double base = (8.4 - 5.0) * 1.98 / 1.41; // NCCL's ring, Simple minus LL
    EXPECT_NEAR(period(Protocol::Simple, 300) - period(Protocol::Ll, 300), fence + base, 0.01);
    EXPECT_NEAR(period(Protocol::Ll, 800) - period(Protocol::Ll, 300), 2 * 0.5, ROUNDING);
}

// 16 channels are copied to 24; the 24 of one node are cut to 4.
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
