// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-heads.h"

#include "collective-bench.h"
#include "reference-machines.h"
#include "schedule-check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace weir
{
namespace
{

/** Time, us, in which an H100's thread groups copy @p bytes in or out on one channel. */
double
CopyTime(double bytes)
{
    const BlockTimes blocks = BlockTimesOf(NodeCosts(H100Boxes(1).node));
    const NcclConstants constants(NcclVersion(), 90, HostCpu::Intel, blocks);
    return bytes / Rate::GBps(constants.BlockBandwidth()).ToBytesPerSecond() * 1e6;
}

constexpr CollectiveOp NVLS_OPS[] = {
    CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter};

CollectiveCall
NvlsCall(CommunicatorId id, CollectiveOp op, Bytes bytes)
{
    return WithAlgorithm(MakeCall(id, op, bytes), Algorithm::Nvls);
}

// (heads + 1) x speed <= NVLink: 9 x 40 of 370.8; 9 x 80 of 721.8; 5 x 60 of 370.8 (the fastest of
// NCCL's list). Between nodes the port limits, too: 40 again; 48 of 50 (PCIe 48), raised to 80
// inside.
TEST(NvlsGraph, SpeedsAreThoseOfTheSearch)
{
    const auto graph = [](ClusterSpec spec, uint32_t gpus) {
        CollectiveBench bench(std::move(spec));
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(gpus));
        return bench.GetPlanner().GetCommunicator(id).nvlsGraph;
    };
    const GraphSpeed h100 = graph(H100Boxes(1), 8);
    EXPECT_EQ(h100.channels, 8U);
    EXPECT_DOUBLE_EQ(h100.intra, 40);
    EXPECT_DOUBLE_EQ(graph(B200Boxes(1), 8).intra, 80);
    EXPECT_EQ(graph(H100Boxes(1), 4).channels, 4U);
    EXPECT_DOUBLE_EQ(graph(H100Boxes(1), 4).intra, 60);
    const GraphSpeed twoH100 = graph(H100Boxes(2), 16);
    EXPECT_DOUBLE_EQ(twoH100.intra, 40);
    EXPECT_DOUBLE_EQ(twoH100.inter, 40);
    const GraphSpeed twoB200 = graph(B200Boxes(2), 16);
    EXPECT_DOUBLE_EQ(twoB200.intra, 80);
    EXPECT_DOUBLE_EQ(twoB200.inter, 48);
}

/** @p gpus GPUs of compute capability 100 on one NVSwitch. */
ClusterSpec
LargeDomain(uint32_t gpus)
{
    ClusterSpec spec = B200Boxes(1);
    spec.node.gpus = gpus;
    spec.node.pcieSwitches = 0;
    return spec;
}

// 72 GPUs: 32 heads, (32 + 1) x 20 of 721.8. Only all-reduce supports fewer heads than ranks.
TEST(NvlsGraph, LargeDomainsHaveFewerHeadsThanGpus)
{
    CollectiveBench bench(LargeDomain(72));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(72));
    const GraphSpeed& graph = bench.GetPlanner().GetCommunicator(id).nvlsGraph;
    EXPECT_EQ(graph.channels, 32U);
    EXPECT_DOUBLE_EQ(graph.intra, 20);
    EXPECT_THROW(bench.GetPlanner().Plan(NvlsCall(id, CollectiveOp::AllGather, Bytes::MiB(1))),
                 std::invalid_argument);
    const Bytes bytes(5'000'001);
    const auto call = NvlsCall(id, CollectiveOp::AllReduce, bytes);
    EXPECT_EQ(CheckSchedule(bench.GetPlanner().GetSchedule(call), {72, bytes, 0}), "");
    const Time planned = bench.GetPlanner().Plan(call).duration;
    EXPECT_NEAR(bench.Run(Fidelity::Flow, call) / planned, 1, 1e-3);
}

// No multicast before Hopper, without NVSwitches, for pairs, and before NCCL 2.17.
TEST(NvlsGraph, IsOnlyWhereNcclHasIt)
{
    const auto channels = [](ClusterSpec spec, uint32_t gpus, const char* version) {
        Fabric fabric(std::move(spec));
        Planner planner(fabric.GetCluster(), fabric.GetRouting(), version);
        return planner.GetCommunicator(planner.AddCommunicator(FirstGpus(gpus))).nvlsGraph.channels;
    };
    EXPECT_EQ(channels(H100Boxes(1), 3, "2.30.7"), 3U);
    EXPECT_EQ(channels(H100Boxes(1), 2, "2.30.7"), 0U);
    EXPECT_EQ(channels(A100Boxes(1), 8, "2.30.7"), 0U);
    EXPECT_EQ(channels(Gh200Nodes(1), 4, "2.30.7"), 0U);
    EXPECT_EQ(channels(H100Boxes(1), 8, "2.16.2"), 0U);
    EXPECT_EQ(channels(H100Boxes(2), 9, "2.30.7"), 0U); // a single GPU on the second node
}

// 16 channels x 8 heads x 128 KiB = 16 MiB: chunks of 128 KiB from 64 times that on; 64 KiB from 8
// times 8 MiB, 32 KiB from twice 4 MiB.
TEST(NvlsChunking, FollowsTheMessage)
{
    const auto chunk = [](int64_t mebibytes, int64_t less) {
        const Bytes bytes(Bytes::MiB(mebibytes).Count() - less);
        return NvlsChunk(Algorithm::Nvls, bytes, 16, 8, Bytes::KiB(128));
    };
    EXPECT_EQ(chunk(1024, 0), Bytes::KiB(128));
    EXPECT_EQ(chunk(1024, 1), Bytes::KiB(64));
    EXPECT_EQ(chunk(64, 0), Bytes::KiB(64));
    EXPECT_EQ(chunk(64, 1), Bytes::KiB(32));
    EXPECT_EQ(chunk(8, 0), Bytes::KiB(32));
    EXPECT_EQ(chunk(8, 1), Bytes::KiB(16));
    const auto tree = [](Bytes bytes, int64_t max) {
        return NvlsChunk(Algorithm::NvlsTree, bytes, 16, 8, Bytes::KiB(max));
    };
    EXPECT_EQ(tree(Bytes::MiB(64), 128), Bytes::KiB(128));
    EXPECT_EQ(tree(Bytes::MiB(63), 128), Bytes::KiB(64));
    EXPECT_EQ(tree(Bytes::MiB(7), 128), Bytes::KiB(32));
    EXPECT_EQ(tree(Bytes::GiB(8), 64), Bytes::KiB(64));
    EXPECT_EQ(tree(Bytes::MiB(512), 256), Bytes::KiB(256));
    EXPECT_EQ(tree(Bytes::MiB(511), 256), Bytes::KiB(128));
}

// 1 GiB over 16 channels and 8 heads: 64 passes of 128 KiB. The latency is 25 us, the copies of one
// pass of 1 MiB in and out, and 64 x 4.5 us; the wire time is 1 GiB at 64 / 97 of 18 x 20.6 GB/s.
TEST(Nvls, AllReduceOfEightH100)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto& plan =
        bench.GetPlanner().Plan(NvlsCall(id, CollectiveOp::AllReduce, Bytes::GiB(1)));
    EXPECT_EQ(plan.channels, 16U);
    const double copies = 2 * CopyTime(1 << 20);
    EXPECT_NEAR(plan.latency.ToMicroseconds(), 25 + copies + 64 * 4.5, ROUNDING);
    EXPECT_NEAR(plan.duration.ToMicroseconds(),
                plan.latency.ToMicroseconds() + (1 << 30) / (370.8e9 * 64 / 97) * 1e6,
                ROUNDING);
    const auto& topology = bench.GetFabric().GetCluster().GetTopology();
    EXPECT_EQ(topology.GetLink(plan.bottleneck).kind, LinkKind::NvLink);
}

// All-gather: a GPU receives 10 flits per 8 of data; nothing is reduced, so there is no copy in.
// Reduce-scatter: a GPU sends 9 flits per 8 and one request for its own part: 73 per 64. Each has
// half of an all-reduce's accesses to drain.
TEST(Nvls, HalvesOfEightH100)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const double copy = CopyTime(1 << 20);
    const double latency = 25 + copy + 64 * 4.5 / 2;
    const auto duration = [&](CollectiveOp op) {
        return bench.GetPlanner().Plan(NvlsCall(id, op, Bytes::GiB(1))).duration.ToMicroseconds();
    };
    EXPECT_NEAR(
        duration(CollectiveOp::AllGather), latency + (1 << 30) / (370.8e9 * 0.8) * 1e6, ROUNDING);
    EXPECT_NEAR(duration(CollectiveOp::ReduceScatter),
                latency + (1 << 30) / (370.8e9 * 64 / 73) * 1e6,
                ROUNDING);
}

// NCCL's nvlsEfficiency is .74 for Blackwell and .85 for Hopper. With links of twice Hopper's rate,
// a pass of 24 channels x 8 heads x 128 KiB has this ratio when the flag synchronization of its
// chunks is included.
TEST(Nvls, BlackwellsEfficiencyIsThatOfItsPasses)
{
    CollectiveBench bench(B200Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto& plan =
        bench.GetPlanner().Plan(NvlsCall(id, CollectiveOp::AllReduce, Bytes::GiB(4)));
    EXPECT_EQ(plan.channels, 24U);
    const double wire = (int64_t{4} << 30) / (721.8e9 * 64 / 97) * 1e6;
    EXPECT_NEAR((plan.duration - plan.latency).ToMicroseconds(), wire, ROUNDING);
    const double passes = (int64_t{4} << 30) / (24.0 * 8 * (128 << 10));
    const double last = passes - std::floor(passes); // fraction of the last pass's chunks
    const double copies = (1 + last) * CopyTime(8 * (128 << 10));
    EXPECT_NEAR(plan.latency.ToMicroseconds(), 25 + copies + std::ceil(passes) * 10.1, 0.1);
    const Time half =
        bench.GetPlanner().Plan(NvlsCall(id, CollectiveOp::AllReduce, Bytes::GiB(2))).duration;
    const double pass = (plan.duration - half).ToMicroseconds() / (passes / 2); // 24 MiB
    const double hopper = 4.5 + 16 * (1 << 20) / (370.8e9 * 64 / 97) * 1e6;     // 16 MiB
    EXPECT_NEAR(24 / pass / (2 * 16 / hopper), 0.74 / 0.85, 0.02);
}

// Whole chunks, partial chunks, less than one aligned chunk per head; groups of every size in a
// node.
TEST(Nvls, SchedulesMeetTheirPostcondition)
{
    CollectiveBench bench(H100Boxes(1));
    for (uint32_t n = 3; n <= 8; ++n)
    {
        const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(n));
        for (auto op : NVLS_OPS)
        {
            for (Bytes bytes : {Bytes(1), Bytes(1000), Bytes(1234567), Bytes(70'000'001)})
            {
                const auto& schedule = bench.GetPlanner().GetSchedule(NvlsCall(id, op, bytes));
                EXPECT_EQ(schedule.algorithm, Algorithm::Nvls);
                EXPECT_EQ(CheckSchedule(schedule, {n, bytes, 0}), "") << ToString(op) << " " << n;
            }
        }
    }
}

// With equal chunks on all channels a pass takes its accesses and one synchronization, plus the
// copies of the first and the last pass, in flow as in the closed form. With few channels a pass
// takes its copies, and other passes are accessed meanwhile.
TEST(Nvls, FlowEqualsTheClosedFormForWholePasses)
{
    CollectiveBench bench(H100Boxes(1));
    auto gpus = FirstGpus(8);
    std::reverse(gpus.begin(), gpus.end());
    const auto id = bench.GetPlanner().AddCommunicator(gpus);
    for (auto op : NVLS_OPS)
    {
        for (const uint32_t channels : {1U, 2U, 4U, 8U, 16U})
        {
            for (Bytes bytes : {Bytes::MiB(2), Bytes::MiB(8), Bytes::MiB(256), Bytes::GiB(2)})
            {
                const auto call = WithChannels(NvlsCall(id, op, bytes), channels);
                const double planned = bench.GetPlanner().Plan(call).duration.ToMicroseconds();
                EXPECT_NEAR(bench.Run(Fidelity::Flow, call).ToMicroseconds() / planned, 1, 1e-6)
                    << ToString(op) << " " << bytes.Count() << " on " << channels;
                EXPECT_NEAR(bench.Run(Fidelity::Stream, call).ToMicroseconds() / planned, 1, 1e-9);
            }
        }
    }
}

/** Counts the transfers that a transport starts. */
class TransferCount : public TransportObserver
{
  public:
    void OnFlowStarted(FlowId, const FlowRequest&, Time) override
    {
        ++transfers;
    }

    uint32_t transfers{0};
};

// One pass, equal on all channels: each of 8 heads accesses its chunk once. The copies in and out
// cross no link, so no transport moves them.
TEST(Nvls, CopiesAreNoTransfers)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    TransferCount count;
    bench.GetFabric().GetTransport().AddObserver(count, false);
    bench.Run(Fidelity::Flow, NvlsCall(id, CollectiveOp::AllReduce, Bytes::MiB(2)));
    bench.GetFabric().GetTransport().RemoveObserver(count);
    EXPECT_EQ(count.transfers, 8U);
}

// Property for any size and group: the last pass is smaller than its share in the closed form. A
// short last pass of an all-gather, whose synchronization is half, ends before the copies of the
// pass before it, which the closed form counts as if all channels and heads were equal: 1.1 % for
// 21.6 MiB.
TEST(Nvls, FlowIsNearTheClosedFormForAnySize)
{
    std::mt19937 random(11);
    CollectiveBench bench(H100Boxes(1));
    for (int trial = 0; trial < 40; ++trial)
    {
        auto gpus = FirstGpus(8);
        std::shuffle(gpus.begin(), gpus.end(), random);
        gpus.resize(3 + random() % 6);
        const auto id = bench.GetPlanner().AddCommunicator(gpus);
        const auto call = WithChannels(
            NvlsCall(id, NVLS_OPS[random() % 3], Bytes(1 + random() % (1U << (random() % 29)))),
            1 + random() % 16);
        const double planned = bench.GetPlanner().Plan(call).duration.ToMicroseconds();
        const double flow = bench.Run(Fidelity::Flow, call).ToMicroseconds();
        EXPECT_NEAR(flow / planned, 1, 0.011) << ToString(call.op) << " " << call.bytes.Count();
    }
}

// A concurrent ring in the same node: NVLS takes longer than in isolation, and both end within
// about the sum of the isolated times.
TEST(Nvls, SharesItsLinksWithARing)
{
    CollectiveBench bench(H100Boxes(1));
    const auto id = bench.GetPlanner().AddCommunicator(FirstGpus(8));
    const auto nvls = NvlsCall(id, CollectiveOp::AllReduce, Bytes::GiB(1));
    auto ring =
        WithProtocol(MakeCall(id, CollectiveOp::AllReduce, Bytes::GiB(1)), Protocol::Simple);
    ring.overrides.algorithm = Algorithm::Ring;
    const auto ends = bench.Run(Fidelity::Stream, {nvls, ring});
    const Time aloneNvls = bench.GetPlanner().Plan(nvls).duration;
    const Time aloneRing = bench.GetPlanner().Plan(ring).duration;
    EXPECT_GT(ends[0] / aloneNvls, 1.2);
    EXPECT_LT(std::max(ends[0], ends[1]) / (aloneNvls + aloneRing), 1.01);
    EXPECT_GT(std::max(ends[0], ends[1]) / (aloneNvls + aloneRing), 0.8);
}

} // namespace
} // namespace weir
