// SPDX-License-Identifier: GPL-2.0-only
#include "collective-bench.h"
#include "collectives/engines/closed-form.h"
#include "fabric/kinds/clos-fabric.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace weir
{
namespace
{

constexpr double NVLINK = 18 * 20.6e9; // bytes/s of one H100, one direction
constexpr double BLOCK = 31.6e9;       // bytes/s of one channel's thread block on Hopper

class EightH100 : public testing::Test
{
  protected:
    double Microseconds(const CollectiveCall& call)
    {
        return m_bench.GetPlanner().Plan(call).duration.ToMicroseconds();
    }

    CollectiveBench m_bench{H100Boxes(1)};
    CommunicatorId m_all{m_bench.GetPlanner().AddCommunicator(FirstGpus(8))};
};

// Each GPU sends 2 x 7/8 x 64 MiB over 18 NVLinks. Two slices follow each other without a gap, and
// the wire pauses only between the 28 slices: 1.02 us where they are copied, 1.63 us where they are
// reduced. Of the latencies only the call's 8.4 us remain visible. The data received last is copied
// after the rank's own stores, at 22.044 us per MiB: 1/3 MiB (64 MiB over 24 channels and 8 ranks),
// which takes longer than the last slice's 3.4 us.
TEST_F(EightH100, AllReduceSimple)
{
    constexpr double COPY = 22.044 * 64 / 24 / 8;
    const auto call = WithAlgorithm(
        WithProtocol(MakeCall(m_all, CollectiveOp::AllReduce, Bytes::MiB(64)), Protocol::Simple),
        Algorithm::Ring);
    EXPECT_NEAR(
        Microseconds(call), 8.4 + COPY + 27 * 1.325 + 1.75 * (64 << 20) / NVLINK * 1e6, 2e-2);
    EXPECT_TRUE(m_bench.GetPlanner().Plan(call).bottleneck.IsValid());
}

// On two GPUs a round is 24 channels x 2 ranks x 2 MiB. A rank stores two chunks of two slices in
// it, each 24 MiB over its links plus 1.325 us, and copies two slices at 22.044 us each. With one
// process, GPUs store into each other's output, and the pause is the 3.4 us of a step. An A100
// loads from its peer, and first stores to itself: the 21.554 us of a Send at Hopper's 1.98 GHz.
TEST(ClosedForm, RoundsOfARingPauseForWhatIsCopied)
{
    const auto round = [](const ClusterSpec& spec, LaunchMode launch, Fidelity fidelity) {
        NcclSettings settings;
        settings.launch = launch;
        CollectiveBench bench(spec, settings);
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(2));
        const auto time = [&](int64_t rounds) {
            const auto call = MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(96 * rounds));
            return bench.Run(fidelity,
                             WithAlgorithm(WithProtocol(call, Protocol::Simple), Algorithm::Ring));
        };
        return (time(8) - time(4)).ToMicroseconds() / 4;
    };
    constexpr double AMPERE = 12 * 20e9; // NVLinks of one A100, one direction
    const double slower = 1.98 / 1.41;
    for (const auto& [fidelity, near] :
         {std::pair(Fidelity::Analytical, 1e-3), {Fidelity::Flow, 0.02}})
    {
        const double hopper = 4 * (24 * (1 << 20) / NVLINK * 1e6 + 1.325);
        const auto spec = H100Boxes(1);
        EXPECT_NEAR(
            round(spec, LaunchMode::ProcessPerGpu, fidelity) / (hopper + 2 * 22.044), 1, near);
        EXPECT_NEAR(round(spec, LaunchMode::OneProcess, fidelity) / (hopper + 3.4), 1, near);
        EXPECT_EQ(round(spec, LaunchMode::Threads, fidelity),
                  round(spec, LaunchMode::OneProcess, fidelity));
        const double wire = 4 * (24 * (1 << 20) / AMPERE * 1e6 + 1.325 * slower);
        const double own = 2 * 21.554 * slower;
        EXPECT_NEAR(round(A100Boxes(1), LaunchMode::OneProcess, fidelity) / (wire + own), 1, near);
    }
}

// One channel, chunks of 1 KiB, 128 LL flag words: a step takes 0.59 us plus 7 / 9 of the 0.43 us
// that the 512 words of a full pass take in addition. 14 steps, plus the call's 5 us.
TEST_F(EightH100, AllReduceLlOnOneChannel)
{
    const auto call =
        WithProtocol(MakeCall(m_all, CollectiveOp::AllReduce, Bytes::KiB(8)), Protocol::Ll);
    EXPECT_NEAR(Microseconds(call), 5 + 14 * (0.59 + 0.43 * 7 / 9), ROUNDING);
    EXPECT_FALSE(m_bench.GetPlanner().Plan(call).bottleneck.IsValid());
}

// All 24 channels under LL, chunks of 5 1/3 passes, rounded up to 6: the first takes 1.02 us, every
// other the time of a block for 4 KiB at 6.3 GB/s.
TEST_F(EightH100, AllReduceLlOnAllChannels)
{
    const auto call =
        WithProtocol(MakeCall(m_all, CollectiveOp::AllReduce, Bytes::MiB(4)), Protocol::Ll);
    EXPECT_NEAR(Microseconds(call), 5 + 14 * (1.02 + 5 * 4096 / 6.3e9 * 1e6), ROUNDING);
}

// 7 steps of 1.9 us, plus 7/8 of the large buffer / (15/16) over NVLink.
TEST_F(EightH100, AllGatherAndReduceScatterLl128)
{
    for (auto op : {CollectiveOp::AllGather, CollectiveOp::ReduceScatter})
    {
        const auto call = WithProtocol(MakeCall(m_all, op, Bytes::MiB(32)), Protocol::Ll128);
        EXPECT_NEAR(
            Microseconds(call), 14 + 7 * 1.9 + 0.875 * (32 << 20) * 16 / 15 / NVLINK * 1e6, 1e-2);
    }
}

// 7 hops of 3.4 us, 6 slices of 512 KiB to fill the pipeline, then the message. Each of 24 channels
// has 1/24 of the NVLinks.
TEST_F(EightH100, BroadcastSimple)
{
    const auto call =
        WithProtocol(MakeCall(m_all, CollectiveOp::Broadcast, Bytes::MiB(240)), Protocol::Simple);
    const double fill = 6 * (512 << 10) * 24 / NVLINK;
    EXPECT_NEAR(Microseconds(call), 8.4 + 7 * 3.4 + (fill + (240 << 20) / NVLINK) * 1e6, ROUNDING);
}

// A pair uses 16 channels of at least 64 KiB each: 1 MiB and more uses all, limited by 18 NVLinks.
TEST_F(EightH100, SendRecv)
{
    const auto pair = m_bench.GetPlanner().AddCommunicator({GpuId(2), GpuId(7)});
    const auto small = MakeCall(pair, CollectiveOp::Send, Bytes::KiB(8));
    EXPECT_NEAR(Microseconds(small), 5 + 1.02 + 4096 / 6.3e9 * 1e6, ROUNDING); // two passes
    const auto large = MakeCall(pair, CollectiveOp::Send, Bytes::MiB(256));
    EXPECT_EQ(m_bench.GetPlanner().Plan(large).channels, 16U);
    EXPECT_NEAR(Microseconds(large), 8.4 + 3.4 + (256 << 20) / NVLINK * 1e6, ROUNDING);
}

// Four nodes, only full chunks: the NIC ports are the bottleneck and never idle, followed by the
// last slice's 14 us. Each port carries 1/8 of the ring's bytes. For each of a chunk's two slices,
// blocks that store over NVLink take less time than a port; they have issued their last store that
// much plus 3.4 us before the last slice arrives, and then copy 2 MiB.
TEST(ClosedForm, AllReduceOverFourNodes)
{
    CollectiveBench bench(H100Boxes(4), ManyQueuePairs());
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    const auto call = WithAlgorithm(
        WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::GiB(1)), Protocol::Simple),
        Algorithm::Ring);
    const auto& plan = bench.GetPlanner().Plan(call);
    const double port = 16 * (1 << 20) / 400e9 * 1e6;
    const double block = (38.244 + 28.117) / 2 + 1.325;
    const double copies = 2 * 22.044 - 3.4 - 2 * (port - block);
    EXPECT_NEAR((plan.duration - plan.wire).ToMicroseconds(), 8.4 + 14 + copies, ROUNDING);
    EXPECT_NEAR(plan.wire.ToMicroseconds(), 2.0 * 31 / 32 * (1 << 30) / 400e9 * 1e6, ROUNDING);
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    ASSERT_TRUE(plan.bottleneck.IsValid());
    EXPECT_EQ(topology.GetLink(plan.bottleneck).kind, LinkKind::Network);
}

// A small call is limited by the path of the slowest chunk: 62 hops of a ring of 28 NVLink and 4
// network hops, that is two rounds minus two NVLink hops; the last block copies its data in 0.88
// us.
TEST(ClosedForm, SmallAllReduceOverFourNodes)
{
    CollectiveBench bench(H100Boxes(4));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    const auto call = WithAlgorithm(
        WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes(512)), Protocol::Simple),
        Algorithm::Ring);
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToMicroseconds(),
                8.4 + 54 * 3.4 + 8 * 14 + 0.88,
                0.1);
}

// One queue pair of a 400 Gb/s port moves 21.4 GB/s: two channels per port make 342.4 GB/s on 8
// ports; four queue pairs fill them.
TEST(ClosedForm, OneQueuePairBindsAFastPort)
{
    const auto wire = [](NcclSettings settings) {
        CollectiveBench bench(H100Boxes(8), std::move(settings));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(64));
        const auto& plan = bench.GetPlanner().Plan(WithAlgorithm(
            WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::GiB(2)), Protocol::Simple),
            Algorithm::Ring));
        return 2.0 * 63 / 64 * (int64_t{2} << 30) / plan.wire.ToSeconds();
    };
    EXPECT_NEAR(wire({}) / 1e9, 342.4, 1e-6);
    EXPECT_NEAR(wire(ManyQueuePairs()) / 1e9, 400, 1e-6);
}

// A fabric with 1 us more latency at each end adds 2 us per network hop.
TEST(ClosedForm, LongerFabricsCostTheirLatency)
{
    ClusterSpec spec = H100Boxes(2);
    const auto duration = [](const ClusterSpec& s) {
        CollectiveBench bench(s, ManyQueuePairs());
        const auto id = bench.GetPlanner().AddCommunicator({GpuId(0), GpuId(8)});
        return bench.GetPlanner().Plan(MakeCall(id, CollectiveOp::Send, Bytes::KiB(1))).duration;
    };
    const Time before = duration(spec);
    // Over the network there is no LL: Simple, whose step is 14 us, and 1 KiB through the block. A
    // kernel that stores only over PCIe ends 3.2 us later.
    const double copied = 21.554 / 1024; // NPKit: sending a mebibyte takes 21.554 us
    EXPECT_NEAR(before.ToMicroseconds(), 8.4 + 3.2 + 14.0 + copied, ROUNDING);
    spec.node.nic.latency += Time::Microseconds(1); // paid at both ends
    EXPECT_EQ(duration(spec) - before, Time::Microseconds(2));
}

/** A cluster whose rings collide in the network. */
ClusterSpec
OversubscribedFatTree()
{
    ClusterSpec spec = H100Boxes(4);
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 16;
    spec.fabric.kind.As<ClosFabric>().oversubscription = 2;
    return spec;
}

// Property: the plan's duration equals the uncontended time in the fluid transport, for any group,
// operation, protocol, size and path collisions: both are max-min shares of the same legs.
TEST(ClosedForm, EqualsTheStreamAlone)
{
    std::mt19937 random(20250101);
    for (const auto& spec : {H100Boxes(3), OversubscribedFatTree(), Gh200Nodes(2), A100Boxes(1)})
    {
        CollectiveBench bench(spec);
        for (int trial = 0; trial < 60; ++trial)
        {
            auto gpus = FirstGpus(bench.GetFabric().GetCluster().GpuCount());
            std::shuffle(gpus.begin(), gpus.end(), random);
            gpus.resize(2 + random() % (gpus.size() - 1));
            const auto id = bench.GetPlanner().AddCommunicator(gpus);
            auto call =
                MakeCall(id, ALL_OPS[random() % 5], Bytes(1 + random() % (1U << (random() % 31))));
            if (random() % 2 == 0)
            {
                call.overrides.protocol = ALL_PROTOCOLS[random() % 3];
            }
            const Time planned = bench.GetPlanner().Plan(call).duration;
            EXPECT_EQ(bench.Run(Fidelity::Analytical, call), planned);
            const Time streamed = bench.Run(Fidelity::Stream, call);
            EXPECT_LE(std::abs((streamed - planned).ToPicoseconds()), 4)
                << ToString(call.op) << " of " << call.bytes.Count() << " bytes over "
                << gpus.size() << " GPUs";
        }
    }
}

// Two all-reduces that share all NVLinks take the time of the bytes of both plus one latency.
TEST(ClosedForm, TwoStreamsShareTheirLinks)
{
    CollectiveBench bench(H100Boxes(1));
    auto gpus = FirstGpus(8);
    const auto a = bench.GetPlanner().AddCommunicator(gpus);
    std::reverse(gpus.begin(), gpus.end());
    const auto b = bench.GetPlanner().AddCommunicator(gpus);
    const auto call = [](CommunicatorId id) {
        return WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(256)),
                            Protocol::Simple);
    };
    const auto& plan = bench.GetPlanner().Plan(call(a));
    const Time bytes = plan.duration - plan.latency;
    for (Time end : bench.Run(Fidelity::Stream, {call(a), call(b)}))
    {
        EXPECT_NEAR((end - plan.latency) / bytes, 2.0, 1e-8);
    }
    for (Time end : bench.Run(Fidelity::Analytical, {call(a), call(b)}))
    {
        EXPECT_EQ(end, plan.duration); // ignores contention
    }
}

// A ring waits for chunk latencies most of the time, and a second ring on the same links moves
// meanwhile: two concurrent calls take the time of one, and less than the latency plus the bytes of
// both (which they would take if they first waited and then moved).
TEST(ClosedForm, WhatOneCallWaitsForAnotherMovesIn)
{
    CollectiveBench bench(H100Boxes(2));
    auto gpus = FirstGpus(16);
    const auto a = bench.GetPlanner().AddCommunicator(gpus);
    std::reverse(gpus.begin(), gpus.end());
    const auto b = bench.GetPlanner().AddCommunicator(gpus);
    for (Bytes bytes : {Bytes::MiB(1), Bytes::MiB(16), Bytes::MiB(256)})
    {
        const auto call = [&](CommunicatorId id) {
            return WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, bytes), Algorithm::Ring);
        };
        const auto& plan = bench.GetPlanner().Plan(call(a));
        const Time stream = bench.Run(Fidelity::Stream, {call(a), call(b)}).front();
        const Time flow = bench.Run(Fidelity::Flow, {call(a), call(b)}).front();
        EXPECT_NEAR(stream / flow, 1, 0.03) << bytes.Count();
        EXPECT_GE(stream, plan.duration) << bytes.Count();
        EXPECT_LT(stream, plan.duration + plan.wire) << bytes.Count();
    }
}

// Ranks of a ring wait for chunks part of the time, while others use its links, and slices move as
// fast as blocks send. So the stream agrees with flow, and no size takes less time than a smaller
// one, including sizes at which chunks become large enough for two slices.
TEST(ClosedForm, RingsThatWaitLeaveTheirLinksToOthers)
{
    CollectiveBench bench(H100Boxes(4));
    const auto group = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    Time before;
    for (int64_t mebibytes = 2; mebibytes <= 256; mebibytes *= 2)
    {
        auto call = MakeCall(group, CollectiveOp::AllReduce, Bytes::MiB(mebibytes));
        call = WithProtocol(WithAlgorithm(call, Algorithm::Ring), Protocol::Simple);
        const Time stream = bench.Run(Fidelity::Stream, call);
        const Time flow = bench.Run(Fidelity::Flow, call);
        EXPECT_NEAR(stream / flow, 1, 0.05) << mebibytes;
        EXPECT_GE(stream, before) << mebibytes;
        before = stream;
    }
}

// Where proxies take as long per message as chunks take for a round, the chunks of a node first
// queue for its port and then travel: a stream of less than a full round takes as long as flow.
TEST(ClosedForm, ChunksWaitForThoseAheadOfThem)
{
    ClusterSpec spec = A100Boxes(4);
    spec.node.costs.clear(); // proxy service times
    CollectiveBench bench(spec);
    const auto group = bench.GetPlanner().AddCommunicator(FirstGpus(32));
    for (const int64_t chunk : {16, 256, 1024})
    {
        auto call = MakeCall(group, CollectiveOp::AllReduce, Bytes(chunk * 32 * 16));
        call = WithProtocol(WithAlgorithm(call, Algorithm::Ring), Protocol::Simple);
        call = WithChannels(call, 16);
        const Time stream = bench.Run(Fidelity::Stream, call);
        const Time flow = bench.Run(Fidelity::Flow, call);
        EXPECT_NEAR(stream / flow, 1, 0.001) << chunk;
    }
}

// The remainder of a message after the full passes of LL128's block is a slice of its own, so that
// one more byte never makes a broadcast faster: a pass is 38 400 bytes per channel.
TEST(ClosedForm, MoreBytesNeverMakeABroadcastFaster)
{
    CollectiveBench bench(H100Boxes(2));
    const auto group = bench.GetPlanner().AddCommunicator(FirstGpus(16));
    Time before;
    for (int64_t bytes = 70000; bytes <= 160000; bytes += 1000)
    {
        auto call = MakeCall(group, CollectiveOp::Broadcast, Bytes(bytes));
        call = WithProtocol(WithAlgorithm(call, Algorithm::Ring), Protocol::Ll128);
        call.overrides.channels = 2;
        const Time stream = bench.Run(Fidelity::Stream, call);
        const Time flow = bench.Run(Fidelity::Flow, call);
        EXPECT_NEAR(stream / flow, 1, 0.001) << bytes;
        EXPECT_GE(stream, before) << bytes;
        before = stream;
    }
}

// The first of a round's n - 1 sends receives nothing. Where a block's work is the bottleneck, as
// under LL, that send takes less than the forwarding ones, which matters for few ranks.
TEST(ClosedForm, FewRanksOfOneGpuANodeUnderLl)
{
    for (const ClusterSpec& spec : {A100Boxes(4), H100Boxes(4)})
    {
        CollectiveBench bench(spec);
        for (const uint32_t n : {2U, 3U, 4U})
        {
            std::vector<GpuId> gpus;
            for (uint32_t node = 0; node < n; ++node)
            {
                gpus.emplace_back(node * 8);
            }
            const auto id = bench.GetPlanner().AddCommunicator(gpus);
            for (const auto op :
                 {CollectiveOp::AllGather, CollectiveOp::ReduceScatter, CollectiveOp::AllReduce})
            {
                const auto call = WithAlgorithm(
                    WithProtocol(MakeCall(id, op, Bytes::MiB(16)), Protocol::Ll), Algorithm::Ring);
                EXPECT_NEAR(
                    bench.Run(Fidelity::Stream, call) / bench.Run(Fidelity::Flow, call), 1, 0.03)
                    << ToString(op) << " n=" << n;
            }
        }
    }
}

// A block of a gather or scatter over so many nodes has rounds of which some work slots have one
// part more than others. An uncontended stream takes the closed form.
TEST(ClosedForm, GathersAndScattersOfUnequalWorkSlots)
{
    for (const uint32_t nodes : {17U, 24U})
    {
        CollectiveBench bench(H100Boxes(nodes));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8 * nodes));
        for (const auto op : {CollectiveOp::Gather, CollectiveOp::Scatter})
        {
            const auto call = MakeCall(id, op, Bytes::MiB(64));
            const Time stream = bench.Run(Fidelity::Stream, call);
            EXPECT_NEAR(stream / bench.Run(Fidelity::Analytical, call), 1, 1e-6)
                << ToString(op) << " " << nodes;
        }
    }
}

// K chunks over S hops of equal load: each hop is used for K of K + S - 1 chunk times. Hops inside
// a node and single hops between nodes leave the weight as it is.
TEST(ClosedForm, PipelinesUseLoadedLinksForAShareOfTheTime)
{
    CollectiveBench bench(H100Boxes(2));
    Planner& planner = bench.GetPlanner();
    const auto routeOf = [&](uint32_t to) {
        const auto id = planner.AddCommunicator({GpuId(0), GpuId(to)});
        const auto call = MakeCall(id, CollectiveOp::Send, Bytes::MiB(1));
        return planner.Plan(call).legs.front();
    };
    const std::vector<StreamLeg> legs{routeOf(8)};
    const RouteId between = legs.front().route;
    const RouteId inside = routeOf(1).route;
    const UncontendedRates rates(legs, planner.GetRouting());
    EXPECT_DOUBLE_EQ(ContendedShare(rates, {between, inside, between, between}, 4), 4.0 / 6);
    EXPECT_EQ(ContendedShare(rates, {inside, between, inside}, 4), 1);
    EXPECT_EQ(ContendedShare(rates, {}, 1), 1);
}

// A tree on every other GPU shares the NICs with an all-to-all on the others. Its chunks climb and
// descend over hops that are all slowed, so it gets less than the share of its channels.
TEST(ClosedForm, ATreeBesideAnAllToAllTakesAsLongAsInFlow)
{
    ClusterSpec spec = H100Boxes(8);
    spec.node.nics = 4; // each of two GPUs
    CollectiveBench bench(spec);
    std::vector<GpuId> even;
    std::vector<GpuId> odd;
    for (uint32_t gpu = 0; gpu < 64; gpu += 2)
    {
        even.emplace_back(gpu);
        odd.emplace_back(gpu + 1);
    }
    Planner& planner = bench.GetPlanner();
    const auto tree = WithAlgorithm(
        MakeCall(planner.AddCommunicator(even), CollectiveOp::AllReduce, Bytes::MiB(8)),
        Algorithm::Tree);
    const auto others =
        MakeCall(planner.AddCommunicator(odd), CollectiveOp::AllToAll, Bytes::MiB(256));
    const Time stream = bench.Run(Fidelity::Stream, {tree, others}).front();
    const Time flow = bench.Run(Fidelity::Flow, {tree, others}).front();
    EXPECT_GT(flow / bench.Run(Fidelity::Flow, tree), 2);
    EXPECT_NEAR(stream / flow, 1, 0.1);
}

/** By link: the bytes of all legs of a plan minus those of the call's schedule. */
std::vector<double>
LoadsOfLegsOverSchedule(CollectiveBench& bench, const CollectiveCall& call)
{
    Planner& planner = bench.GetPlanner();
    const Routing& routing = planner.GetRouting();
    std::vector<double> loads(routing.GetTopology().LinkCount(), 0);
    const auto add = [&](RouteId route, double bytes) {
        for (const PathLink& each : routing.Links(route))
        {
            loads[each.link.Index()] += bytes * each.multiplicity;
        }
    };
    for (const StreamLeg& leg : planner.Plan(call).legs)
    {
        add(leg.route, leg.bytes.ToDouble());
    }
    for (const auto& [channel, copies] : planner.GetSchedule(call).channels)
    {
        const std::vector<ConnectionUse> uses = UsesOf(channel);
        for (std::size_t c = 0; c < uses.size(); ++c)
        {
            for (const Loop& loop : channel.loops)
            {
                const double passes = 1.0 * copies * uses[c].chunks * loop.repeat;
                add(channel.connections[c].connection.route,
                    -passes * loop.chunks.front().ToDouble());
            }
        }
    }
    return loads;
}

// Legs are computed from the same description as schedules. Where all chunks are equal, here three
// passes of 2 MiB on two channels of rings and twelve of 512 KiB of PAT, they load every link with
// the bytes of the schedule.
TEST(ClosedForm, LegsLoadLinksWithTheBytesOfTheSchedule)
{
    CollectiveBench bench(H100Boxes(6));
    std::vector<GpuId> onePerNode;
    for (uint32_t node = 0; node < 6; ++node)
    {
        onePerNode.emplace_back(8 * node);
    }
    const auto check = [&](const std::vector<GpuId>& gpus, Algorithm algorithm, CollectiveOp op) {
        const auto id = bench.GetPlanner().AddCommunicator(gpus);
        const auto ranks = static_cast<int64_t>(gpus.size());
        const auto call = MakeCall(id, op, Bytes::MiB(2 * 2 * 3 * ranks));
        for (const double each : LoadsOfLegsOverSchedule(
                 bench,
                 WithChannels(WithProtocol(WithAlgorithm(call, algorithm), Protocol::Simple), 2)))
        {
            EXPECT_EQ(each, 0) << ToString(algorithm) << " " << ToString(op);
        }
    };
    check(FirstGpus(24), Algorithm::Ring, CollectiveOp::AllReduce);
    for (const CollectiveOp op : {CollectiveOp::AllGather, CollectiveOp::ReduceScatter})
    {
        check(FirstGpus(24), Algorithm::Ring, op);
        check(onePerNode, Algorithm::Pat, op);
    }
}

} // namespace
} // namespace weir
