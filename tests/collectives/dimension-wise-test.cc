// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/kinds/clos-fabric.h"
#include "fabric/kinds/dimensions.h"

#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weir
{
namespace
{

using Algorithms = std::vector<DimensionAlgorithm>;

constexpr double GB = 1e9;

/**
 * Settings without endpoint costs, so that only transmission and hop latencies count; one chunk by
 * default.
 */
NcclSettings
Ideal(Algorithms algorithms, uint32_t chunks = 1)
{
    NcclSettings settings;
    settings.dimensionWise.algorithms = std::move(algorithms);
    settings.dimensionWise.chunks = chunks;
    settings.dimensionWise.endpointDelay = Time();
    return settings;
}

CollectiveCall
DimensionCall(CollectiveBench& bench, CollectiveOp op, Bytes bytes)
{
    const uint32_t gpus = bench.GetFabric().GetCluster().GpuCount();
    return WithAlgorithm(MakeCall(bench.GetPlanner().AddCommunicator(FirstGpus(gpus)), op, bytes),
                         Algorithm::DimensionWise);
}

/** A node of @p gpus GPUs in a ring of NVLinks of @p rate and 500 ns. */
ClusterSpec
NvLinkRing(uint32_t gpus, Rate rate)
{
    ClusterSpec spec = ReferenceBoxes(1, 90, 0, rate.ToGBps(), 64, 50);
    spec.node.gpus = gpus;
    spec.node.nics = gpus;
    spec.node.nvlink.latency = Time::Nanoseconds(500);
    spec.node.wiring = NvLinkWiring::Mesh;
    for (uint32_t gpu = 0; gpu < gpus; ++gpu)
    {
        spec.node.meshLinks.push_back(
            {std::min(gpu, (gpu + 1) % gpus), std::max(gpu, (gpu + 1) % gpus), 1});
    }
    Dimensions dimensions;
    dimensions.dimensions = ParseDimensions("Ring(" + std::to_string(gpus) + ") inside");
    spec.fabric.kind = dimensions;
    return spec;
}

/** Nodes of 8 H100 joined by the dimensions of @p text, each GPU with its own NIC. */
ClusterSpec
Boxes(uint32_t nodes, const std::string& text)
{
    ClusterSpec spec = H100Boxes(nodes);
    spec.node.pcieSwitches = 8;
    Dimensions dimensions;
    dimensions.dimensions = ParseDimensions(text);
    spec.fabric.kind = dimensions;
    return spec;
}

// ASTRA-sim's golden test: 1 MiB over Ring(8) of 50 GiB/s and 500 ns by rings. 2 x 7 steps of an
// eighth take 14 (500 ns + 131072 / 50 GiB/s) = 41.18 us; the rest of its 117.78 us are endpoint
// costs. With four chunks, of which a dimension serves one at a time, each chunk pays the hops.
TEST(DimensionWise, TakesWireAndHopsOfTheGoldenTest)
{
    const Rate rate = Rate::BytesPerSecond(50.0 * (1 << 30));
    for (const uint32_t chunks : {1U, 4U})
    {
        CollectiveBench bench(NvLinkRing(8, rate), Ideal({DimensionAlgorithm::Ring}, chunks));
        const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes::MiB(1));
        const double step = 0.5 + (1 << 17) / (50.0 * (1 << 30)) * 1e6 / chunks;
        const double expected = 14 * step * chunks;
        EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToMicroseconds(), expected, 0.01);
        for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
        {
            EXPECT_NEAR(bench.Run(fidelity, call).ToMicroseconds(), expected, 0.01)
                << ToString(fidelity);
        }
    }
}

// The same with ASTRA-sim's endpoints as in the test's system file, 10 ns per step and a memory of
// 50 GB/s, in four consecutive chunks: 4 x 14 steps of 500 + 32768 / 53.687 + 10 ns, of which 4 x 7
// add 3 x 32768 / 50 ns for the reduction. The test expects 117 780 cycles of 1 ns
// (tests/rt_template of astra-sim).
TEST(DimensionWise, TakesTheEndPointsOfTheGoldenTest)
{
    NcclSettings settings = Ideal({DimensionAlgorithm::Ring}, 4);
    settings.dimensionWise.endpointDelay = Time::Nanoseconds(10);
    settings.dimensionWise.memoryRate = Rate::GBps(50);
    CollectiveBench bench(NvLinkRing(8, Rate::BytesPerSecond(50.0 * (1 << 30))), settings);
    const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes::MiB(1));
    const double bytes = 32768;
    const double expected =
        56 * (500 + bytes / (50.0 * (1 << 30)) * 1e9 + 10) + 28 * (3 * bytes / 50);
    EXPECT_NEAR(expected, 117780, 20);
    for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
    {
        EXPECT_NEAR(bench.Run(fidelity, call).ToMicroseconds() * 1e3, expected, 10)
            << ToString(fidelity);
    }
}

// Over two dimensions, also where a step has several peers, every reduction takes its memory time.
TEST(DimensionWise, AdditionsTakeTheirTimeInEveryDimension)
{
    const double bytes = 64 << 20;
    for (const auto algorithm : {DimensionAlgorithm::Ring,
                                 DimensionAlgorithm::Direct,
                                 DimensionAlgorithm::HalvingDoubling})
    {
        const auto timeOf = [&](std::optional<Rate> memory, Fidelity fidelity) {
            NcclSettings settings = Ideal({algorithm});
            settings.dimensionWise.memoryRate = memory;
            CollectiveBench bench(Boxes(4, "Switch(8) inside x Switch(4)"), settings);
            const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes(1 << 26));
            return bench.Run(fidelity, call).ToSeconds();
        };
        // 7 / 8 of all inside a node, 3 / 4 of an eighth between nodes.
        const double expected = 3 * bytes * (7.0 / 8 + 3.0 / 4 / 8) / 300e9;
        for (const Fidelity fidelity : {Fidelity::Analytical, Fidelity::Stream, Fidelity::Flow})
        {
            EXPECT_NEAR((timeOf(Rate::GBps(300), fidelity) - timeOf(std::nullopt, fidelity)) /
                            expected,
                        1,
                        1e-2)
                << ToString(algorithm) << ' ' << ToString(fidelity);
        }
    }
}

// Every step pays the endpoint delay.
TEST(DimensionWise, EveryStepPaysTheEndpointDelay)
{
    const auto settings = [](double microseconds) {
        NcclSettings ideal = Ideal({DimensionAlgorithm::Ring});
        ideal.dimensionWise.endpointDelay = Time::Microseconds(microseconds);
        return ideal;
    };
    const auto timeOf = [&](double microseconds) {
        CollectiveBench bench(NvLinkRing(8, Rate::GBps(50)), settings(microseconds));
        return bench.Run(Fidelity::Flow, DimensionCall(bench, CollectiveOp::AllGather, Bytes(8)));
    };
    EXPECT_NEAR((timeOf(3) - timeOf(1)).ToMicroseconds(), 7 * 2, 1e-3);
}

/**
 * Time of a phase over k ranks for S bytes: latency per step, plus (k - 1) / k of S on the wire.
 */
double
PhaseSeconds(DimensionAlgorithm algorithm, double size, double bytes, double rate, double latency)
{
    const double steps = algorithm == DimensionAlgorithm::Ring     ? size - 1
                         : algorithm == DimensionAlgorithm::Direct ? 1
                                                                   : std::log2(size);
    return steps * latency + (size - 1) / size * bytes / rate;
}

// Over switches all three algorithms move (k - 1) / k of a rank's data, in k - 1, 1 and log2 k
// steps; a reduce-scatter leaves 1 / k of it to the next dimension. GPU to GPU: 370.8 GB/s and 0.3
// us over two NVLinks. Over the network: 50 GB/s and 8 hops, 4 x 150 and 2 x 600 ns at the ends
// plus 2 x 300 ns to the switch of the dimension and back.
TEST(DimensionWise, PhasesFollowTheirClosedForm)
{
    const double bytes = 64 << 20;
    for (const auto algorithm : {DimensionAlgorithm::Ring,
                                 DimensionAlgorithm::Direct,
                                 DimensionAlgorithm::HalvingDoubling})
    {
        CollectiveBench bench(Boxes(4, "Switch(8) inside x Switch(4)"), Ideal({algorithm}));
        const double inside = PhaseSeconds(algorithm, 8, bytes, 370.8 * GB, 0.3e-6);
        const double outside = PhaseSeconds(algorithm, 4, bytes / 8, 50 * GB, 2.4e-6);
        for (const auto& [op, factor] : {std::pair{CollectiveOp::AllReduce, 2.0},
                                         std::pair{CollectiveOp::ReduceScatter, 1.0},
                                         std::pair{CollectiveOp::AllGather, 1.0}})
        {
            const auto call = DimensionCall(bench, op, Bytes::MiB(64));
            const double expected = factor * (inside + outside) * 1e6;
            const Time planned = bench.GetPlanner().Plan(call).duration;
            EXPECT_NEAR(planned.ToMicroseconds() / expected, 1, 1e-3)
                << ToString(op) << " " << ToString(algorithm);
            EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, 1e-3)
                << ToString(op) << " " << ToString(algorithm);
        }
    }
}

// A two-level all-to-all crosses the network once with all but the own node's part, (m - 1) / m,
// and then the NVLinks with the parts of the node's other GPUs, 7 / 8.
TEST(DimensionWise, AllToAllCrossesEachLevelOnce)
{
    const double bytes = 64 << 20;
    CollectiveBench bench(Boxes(4, "Switch(8) inside x Switch(4)"),
                          Ideal({DimensionAlgorithm::Direct}));
    const auto call = DimensionCall(bench, CollectiveOp::AllToAll, Bytes::MiB(64));
    const double expected = PhaseSeconds(DimensionAlgorithm::Direct, 8, bytes, 370.8 * GB, 0.3e-6) +
                            PhaseSeconds(DimensionAlgorithm::Direct, 4, bytes, 50 * GB, 2.4e-6);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToSeconds() / expected, 1, 1e-3);
    const auto ports = BytesOutOfPorts(bench, bench.GetPlanner().Plan(call));
    ASSERT_EQ(ports.size(), 4 * 8U);
    for (const double out : ports)
    {
        EXPECT_NEAR(out / (0.75 * bytes), 1, 1e-3);
    }
}

// The fidelities agree with NCCL's costs on any fabric; where ECMP loads spines unequally, ranks on
// lightly loaded spines run ahead of the others.
TEST(DimensionWise, FidelitiesAgreeOnAnyCluster)
{
    ClusterSpec oversubscribed = H100Boxes(8);
    auto& leaves = oversubscribed.fabric.kind.As<ClosFabric>();
    leaves.leafRadix = 16;
    leaves.oversubscription = 4;
    for (const ClusterSpec& spec : {H100Boxes(4),
                                    Gh200Nodes(4),
                                    Boxes(6, "Switch(8) inside x Ring(3) x FullyConnected(2)"),
                                    oversubscribed})
    {
        CollectiveBench bench(spec);
        for (const auto op : {CollectiveOp::AllReduce,
                              CollectiveOp::AllGather,
                              CollectiveOp::ReduceScatter,
                              CollectiveOp::AllToAll})
        {
            for (const Bytes bytes : {Bytes(1000), Bytes::MiB(256)})
            {
                const auto call = DimensionCall(bench, op, bytes);
                const uint32_t ranks = bench.GetFabric().GetCluster().GpuCount();
                EXPECT_EQ(
                    CheckSchedule(bench.GetPlanner().GetSchedule(call), {ranks, bytes, 0, {}}), "");
                const Time flow = bench.Run(Fidelity::Flow, call);
                EXPECT_NEAR(bench.Run(Fidelity::Stream, call) / flow, 1, 0.03)
                    << ToString(op) << " of " << bytes.Count() << " over " << ranks;
                EXPECT_NEAR(bench.Run(Fidelity::Analytical, call) / flow, 1, 0.03)
                    << ToString(op) << " of " << bytes.Count() << " over " << ranks;
            }
        }
    }
}

// Chunks keep both levels busy concurrently. Uncontended, S takes a in the first level and an
// eighth of S takes b in the second; 16 chunks take at least max(a, b), and at most (a + b) / 8
// more.
TEST(DimensionWise, ChunksOverlapInDifferentDimensions)
{
    const double bytes = 1 << 30;
    const double inside = 2 * 7.0 / 8 * bytes / (370.8 * GB);
    const double outside = 2 * 3.0 / 4 * bytes / 8 / (50 * GB);
    CollectiveBench bench(Boxes(4, "Switch(8) inside x Switch(4)"),
                          Ideal({DimensionAlgorithm::Ring}, 16));
    const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes::GiB(1));
    for (const Time time :
         {bench.Run(Fidelity::Flow, call), bench.GetPlanner().Plan(call).duration})
    {
        EXPECT_GT(time.ToSeconds(), std::max(inside, outside));
        EXPECT_LT(time.ToSeconds(), std::max(inside, outside) + (inside + outside) / 8);
    }
}

// Of two levels of equal rate, the first moves 7 / 8 S and the second 3 / 4 of an eighth of S;
// Themis lets chunks begin with either.
TEST(DimensionWise, BalancedChunksUseBothDimensions)
{
    const auto timeOf = [](bool balanced) {
        ClusterSpec spec = Boxes(4, "Switch(8) inside x Switch(4)");
        spec.node.nvlinksPerGpu = 1;
        spec.node.nvlink = ReferenceLink("nvlink", 50, 150);
        NcclSettings settings = Ideal({DimensionAlgorithm::Ring}, 16);
        settings.dimensionWise.balanced = balanced;
        CollectiveBench bench(spec, settings);
        const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes::GiB(1));
        const Time flow = bench.Run(Fidelity::Flow, call);
        EXPECT_NEAR(bench.GetPlanner().Plan(call).duration / flow, 1, 0.02);
        return flow;
    };
    EXPECT_LT(timeOf(true) / timeOf(false), 0.8);
}

// Chunks that take the dimensions in a different order may end later without latencies than with
// them (an anomaly of list scheduling, Graham 1969): the latency part of the plan is never
// negative.
TEST(DimensionWise, BalancedChunksHaveNoLatencyBelowZero)
{
    NcclSettings settings;
    settings.dimensionWise.balanced = true;
    for (const uint32_t nodes : {3, 4})
    {
        CollectiveBench bench(H100Boxes(nodes), settings);
        for (const Bytes bytes : {Bytes::MiB(64), Bytes::GiB(1)})
        {
            const auto call = DimensionCall(bench, CollectiveOp::AllReduce, bytes);
            EXPECT_GE(bench.GetPlanner().Plan(call).latency, Time());
            EXPECT_NEAR(
                bench.Run(Fidelity::Stream, call) / bench.Run(Fidelity::Flow, call), 1, 0.03);
        }
    }
}

// HiTopKComm over m = 4 nodes of n = 8 GPUs at a density of 1 %: twice (n - 1)(a + S / (n B))
// inside the node, selection from an eighth of S, and m - 1 steps of 2 x 1 % of it, values and
// indices, between nodes.
TEST(DimensionWise, SparseAllReduceGathersWhatIsSelected)
{
    const double bytes = 64 << 20;
    NcclSettings settings = Ideal({DimensionAlgorithm::Ring});
    settings.dimensionWise.sparsity = Sparsity{0.01, Rate::GBps(100)};
    CollectiveBench bench(Boxes(4, "Switch(8) inside x Switch(4)"), settings);
    const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes::MiB(64));
    const double inside = 7 * (0.3e-6 + bytes / 8 / (370.8 * GB));
    const double outside = 3 * (2.4e-6 + 0.02 * bytes / 8 / (50 * GB));
    const double expected = 2 * inside + bytes / 8 / (100 * GB) + outside;
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToSeconds() / expected, 1, 1e-3);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToSeconds() / expected, 1, 1e-3);
}

// A GPU selects from one chunk after the other: with any number of chunks the time is at least an
// eighth of S at the selection rate, and little more.
TEST(DimensionWise, ChunksDoNotMultiplyTheRateOfSelection)
{
    const double uncontended = (256 << 20) / 8 / (1 * GB);
    for (const uint32_t chunks : {1u, 4u, 16u})
    {
        NcclSettings settings = Ideal({DimensionAlgorithm::Ring}, chunks);
        settings.dimensionWise.sparsity = Sparsity{0.01, Rate::GBps(1)};
        CollectiveBench bench(Boxes(4, "Switch(8) inside x Switch(4)"), settings);
        const auto call = DimensionCall(bench, CollectiveOp::AllReduce, Bytes::MiB(256));
        for (const Time time : {bench.GetPlanner().Plan(call).duration,
                                bench.Run(Fidelity::Stream, call),
                                bench.Run(Fidelity::Flow, call)})
        {
            EXPECT_GT(time.ToSeconds(), uncontended) << chunks;
            EXPECT_LT(time.ToSeconds(), uncontended * 1.06) << chunks;
        }
    }
}

// Channels of a GPU with two ports alternate between them: twice the ports, half the time outside
// the node.
TEST(DimensionWise, UsesAllPortsOfAGpu)
{
    const auto secondsWith = [](uint32_t nics) {
        ClusterSpec spec = A100Boxes(4);
        spec.node.nics = nics;
        spec.node.nic = ReferenceLink("nic", 12.5, 600);
        CollectiveBench bench(spec);
        const auto call = DimensionCall(bench, CollectiveOp::AllToAll, Bytes::MiB(512));
        const Time flow = bench.Run(Fidelity::Flow, call);
        EXPECT_NEAR(bench.Run(Fidelity::Stream, call) / flow, 1, 0.03) << nics;
        EXPECT_NEAR(bench.GetPlanner().Plan(call).duration / flow, 1, 0.03) << nics;
        return flow.ToSeconds();
    };
    EXPECT_NEAR(secondsWith(8) / secondsWith(16), 2, 0.1);
}

// A token selects 4 of 8 groups of 32 experts, and 8 of their 128 experts. One of two nodes, with 4
// groups, receives nothing if all 4 groups are the other node's, once in 70, or if none of the 8
// experts is here. One of 16 GPUs has 16 experts of one group, which is among the 4 in half of all
// cases.
TEST(DimensionWise, DispatchReachesNodesAndGpusAsLikelyAsItsExperts)
{
    const ExpertDispatch dispatch{256, 8, 8, 4};
    double none = 1; // no hit in 8 draws from 128 without replacement, 16 of them here
    for (int draw = 0; draw < 8; ++draw)
    {
        none *= (112.0 - draw) / (128 - draw);
    }
    EXPECT_NEAR(dispatch.ProbabilityOf(1.0 / 16), 0.5 * (1 - none), 1e-9);
    EXPECT_NEAR(dispatch.ProbabilityOf(1), 1, 1e-9);
    EXPECT_GT(dispatch.ProbabilityOf(0.5), 0.95);
    EXPECT_LT(dispatch.ProbabilityOf(0.5), 69.0 / 70);
    EXPECT_NEAR((ExpertDispatch{4, 1, 1, 1}.ProbabilityOf(0.25)), 0.25, 1e-9);
    // 2^19 of 2^20 experts: the probability to miss a quarter of all is practically zero.
    EXPECT_NEAR((ExpertDispatch{1 << 20, 1 << 19, 1, 1}.ProbabilityOf(0.25)), 1, 1e-9);
}

// Tokens cross the network once for the other node, then NVLink once for each GPU of that node,
// from both nodes.
TEST(DimensionWise, DispatchCrossesEachLevelOnceAToken)
{
    const double bytes = 32 << 20;
    NcclSettings settings = Ideal({DimensionAlgorithm::Direct});
    settings.dimensionWise.dispatch = ExpertDispatch{256, 8, 8, 4};
    CollectiveBench bench(Boxes(2, "Switch(8) inside x Switch(2)"), settings);
    const auto call = DimensionCall(bench, CollectiveOp::AllToAll, Bytes::MiB(32));
    const double node = settings.dimensionWise.dispatch->ProbabilityOf(1.0 / 2) * bytes;
    const double gpu = settings.dimensionWise.dispatch->ProbabilityOf(1.0 / 16) * bytes;
    const double expected = 2.4e-6 + node / (50 * GB) + 0.3e-6 + 7 * 2 * gpu / (370.8 * GB);
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToSeconds() / expected, 1, 1e-3);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToSeconds() / expected, 1, 1e-3);
}

// A token crosses the network once for each of its experts, half of which are in the other node.
TEST(DimensionWise, DirectDispatchSendsACopyToEachExpert)
{
    const double bytes = 32 << 20;
    NcclSettings settings = Ideal({DimensionAlgorithm::Direct});
    settings.dimensionWise.dispatch = ExpertDispatch{256, 8, 1, 1, true};
    CollectiveBench bench(Boxes(2, "Switch(8) inside x Switch(2)"), settings);
    const auto call = DimensionCall(bench, CollectiveOp::AllToAll, Bytes::MiB(32));
    const double expected = 2.4e-6 + 8 * bytes / 2 / (50 * GB);
    EXPECT_NEAR(bench.GetPlanner().Plan(call).duration.ToSeconds() / expected, 1, 1e-3);
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToSeconds() / expected, 1, 1e-3);
}

// As packets, the last byte of a step arrives one packet time later per hop, and headers take part
// of the bandwidth.
TEST(DimensionWise, PacketsTakeAsLongAsTheFluid)
{
    const ClusterSpec spec = Boxes(4, "Switch(8) inside x Ring(2) x Switch(2)");
    CollectiveBench fluid(spec);
    CollectiveBench packets(spec, {}, PacketSpec());
    for (const auto op : {CollectiveOp::AllReduce, CollectiveOp::AllToAll})
    {
        const Time flow = fluid.Run(Fidelity::Flow, DimensionCall(fluid, op, Bytes::MiB(8)));
        const Time packet =
            packets.Run(Fidelity::Packet, DimensionCall(packets, op, Bytes::MiB(8)));
        EXPECT_GT(packet / flow, 0.99) << ToString(op);
        EXPECT_LT(packet / flow, 1.15) << ToString(op);
    }
}

TEST(DimensionWise, RefusesWhatItCannotDo)
{
    const auto plan = [](const NcclSettings& settings, CollectiveOp op, Protocol protocol) {
        CollectiveBench bench(Boxes(6, "Switch(8) inside x Ring(6)"), settings);
        bench.GetPlanner().Plan(WithProtocol(DimensionCall(bench, op, Bytes::MiB(1)), protocol));
    };
    NcclSettings sparse;
    sparse.dimensionWise.sparsity = Sparsity{};
    const auto simple = Protocol::Simple;
    EXPECT_THROW(plan({}, CollectiveOp::AllReduce, Protocol::Ll), std::invalid_argument);
    EXPECT_THROW(plan({}, CollectiveOp::Broadcast, simple), std::invalid_argument);
    EXPECT_THROW(plan(sparse, CollectiveOp::AllGather, simple), std::invalid_argument);
    NcclSettings experts;
    experts.dimensionWise.dispatch = ExpertDispatch{16, 8, 4, 1};
    EXPECT_THROW(plan(experts, CollectiveOp::AllToAll, simple), std::invalid_argument);
    experts.dimensionWise.dispatch = ExpertDispatch{};
    EXPECT_THROW(plan(experts, CollectiveOp::AllReduce, simple), std::invalid_argument);
    EXPECT_THROW(plan(Ideal({DimensionAlgorithm::Ring}), CollectiveOp::AllToAll, simple),
                 std::invalid_argument);
    EXPECT_THROW(
        plan(Ideal({DimensionAlgorithm::HalvingDoubling}), CollectiveOp::AllReduce, simple),
        std::invalid_argument);
}

} // namespace
} // namespace weir
