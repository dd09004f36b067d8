// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/idle-playback.h"
#include "collectives/engines/pipeline-time.h"

#include "fabric/kinds/clos-fabric.h"
#include "fabric/topology/topology.h"

#include "collective-bench.h"
#include "reference-machines.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

constexpr double MIB = 1 << 20;

/** Paths over NVLink: GPU to switch to GPU, 18 links of 20.6 GB/s each. */
class PipelineTimes : public testing::Test
{
  protected:
    Pipeline Chain(const std::vector<uint32_t>& gpus, double slices)
    {
        const auto id = m_bench.GetPlanner().AddCommunicator(FirstGpus(8));
        const auto& ring = m_bench.GetPlanner().GetCommunicator(id).channels.front();
        Pipeline pipeline;
        for (uint32_t gpu : gpus)
        {
            const auto it = std::find(ring.order.begin(), ring.order.end(), gpu);
            pipeline.path.push_back(ring.hops[it - ring.order.begin()].route);
            pipeline.stages.push_back({pipeline.path.back()});
        }
        pipeline.slice = Bytes::MiB(1);
        pipeline.bytes = Bytes(static_cast<int64_t>(slices * MIB));
        pipeline.cap = Rate::Infinite();
        return pipeline;
    }

    double InSlices(const std::vector<Pipeline>& pipelines)
    {
        const Time slice = Bytes::MiB(1) / Rate::GBps(18 * 20.6);
        return PipelineTime(pipelines, m_bench.GetFabric().GetRouting()) / slice;
    }

    CollectiveBench m_bench{H100Boxes(1)};
};

// K slices through S hops of one rate take K + S - 1 crossings; a partial last slice counts by its
// size.
TEST_F(PipelineTimes, OneChainIsTextbook)
{
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 1)}), 3, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 2)}), 4, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 40)}), 42, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 40.25)}), 42.25, 2e-7);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 0.5)}), 3, 1e-9); // with a full first slice
}

// A block that is busy with a slice for 2.5 crossings forwards it after one: K slices through S
// hops take S + 2.5 (K - 1) crossings.
TEST_F(PipelineTimes, ABusyBlockDelaysTheNextSlice)
{
    for (const double slices : {1.0, 2.0, 3.0, 40.0})
    {
        auto chain = Chain({0, 1, 2}, slices);
        chain.block = Rate::GBps(18 * 20.6 / 2.5);
        EXPECT_NEAR(InSlices({chain}), 3 + 2.5 * (slices - 1), 1e-5);
    }
}

// Two equal chains share every hop all the time.
TEST_F(PipelineTimes, EqualChannelsShareEveryHop)
{
    Pipeline both = Chain({0, 1, 2}, 5);
    both.weight = 2;
    EXPECT_NEAR(InSlices({both}), 14, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 5), Chain({0, 1, 2}, 5)}), 14, 1e-9);
}

// Two chains over the same two hops in opposite order: single slices have every hop for themselves;
// K > 1 slices share hops in all ticks except the first and the last: 2 + 2 (K - 1).
TEST_F(PipelineTimes, ChannelsMeetOnlyWhenFull)
{
    EXPECT_NEAR(InSlices({Chain({0, 1}, 1), Chain({1, 0}, 1)}), 2, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1}, 10), Chain({1, 0}, 10)}), 20, 1e-9);
}

/**
 * Reference by definition, tick by tick, of chains over the hops of @p gpus, in crossings of one
 * slice; each slice keeps a stage's block busy for @p busy.
 */
double
TickByTick(const std::vector<std::vector<uint32_t>>& gpus, int slices, double busy)
{
    double longest = 0;
    for (const auto& chain : gpus)
    {
        std::vector<double> ends(slices); // by slice: end of the last stage that it has crossed
        for (int stage = 0; stage < static_cast<int>(chain.size()); ++stage)
        {
            double free = 0;
            for (int slice = 0; slice < slices; ++slice)
            {
                double load = 0;
                for (const auto& other : gpus)
                {
                    const int tick = slice + stage;
                    for (int s = std::max(0, tick - slices + 1); s <= tick; ++s)
                    {
                        load += s < static_cast<int>(other.size()) && other[s] == chain[stage];
                    }
                }
                const double start = std::max(ends[slice], free);
                ends[slice] = start + load;
                free = start + std::max(load, busy);
            }
        }
        longest = std::max(longest, ends.back());
    }
    return longest;
}

// Chains that cross some hops several times, at other positions than their neighbors: loads change
// while slices queue. Up to as many slices as stages the time equals that of the definition.
TEST_F(PipelineTimes, ChainsThatMeetAreThoseOfTheDefinition)
{
    const std::vector<std::vector<uint32_t>> gpus{{0, 1, 2, 0, 3, 0, 0, 4},
                                                  {5, 0, 1, 1, 2, 6, 0, 3, 3}};
    for (const int slices : {1, 2, 3, 5, 8, 9})
    {
        for (const double busy : {0.0, 1.5, 4.0})
        {
            std::vector<Pipeline> chains{Chain(gpus[0], slices), Chain(gpus[1], slices)};
            for (Pipeline& each : chains)
            {
                each.block = busy > 0 ? Rate::GBps(18 * 20.6 / busy) : Rate::Infinite();
            }
            EXPECT_NEAR(InSlices(chains), TickByTick(gpus, slices, busy), 1e-4)
                << slices << " slices, " << busy;
        }
    }
}

// 8000 hops: equal slices are computed once, so the cost is proportional to the number of hops.
TEST_F(PipelineTimes, ALongChainIsNoSquare)
{
    std::vector<uint32_t> gpus;
    for (uint32_t i = 0; i < 8000; ++i)
    {
        gpus.push_back(i % 8);
    }
    Pipeline chain = Chain(gpus, 1e6);
    chain.cap = Rate::GBps(18 * 20.6 / 1000); // so at most 1000 chains could share a hop
    EXPECT_NEAR(InSlices({chain}) / (1000 * (8000 + 1e6 - 1)), 1, 1e-6);
}

TEST_F(PipelineTimes, ACapBoundsEveryCrossing)
{
    Pipeline capped = Chain({0, 1, 2}, 4);
    capped.cap = Rate::GBps(18 * 20.6 / 3);
    EXPECT_NEAR(InSlices({capped}), 18, 1e-9);
    EXPECT_EQ(PipelineTime({}, m_bench.GetFabric().GetRouting()), Time());
}

// The playback plays equal parts once and skips passes of constant period; it agrees with flow,
// which plays every slice of all ranks.
TEST(IdlePlaybacks, AreFlowsOfAnyAlgorithm)
{
    struct Case
    {
        CollectiveOp op;
        Algorithm algorithm;
    };

    CollectiveBench bench(H100Boxes(2));
    Planner& planner = bench.GetPlanner();
    const auto id = planner.AddCommunicator(FirstGpus(16));
    for (const auto& [op, algorithm] : {Case{CollectiveOp::AllReduce, Algorithm::Ring},
                                        Case{CollectiveOp::AllReduce, Algorithm::Tree},
                                        Case{CollectiveOp::AllReduce, Algorithm::NvlsTree},
                                        Case{CollectiveOp::Broadcast, Algorithm::Ring},
                                        Case{CollectiveOp::AllToAll, Algorithm::PointToPoint}})
    {
        for (const Bytes bytes : {Bytes::KiB(64), Bytes::MiB(8)})
        {
            const auto call = WithAlgorithm(MakeCall(id, op, bytes), algorithm);
            const Schedule& schedule = planner.GetSchedule(call);
            const Time time =
                schedule.startLatency + IdlePlayback(schedule, 16, planner).Duration();
            EXPECT_NEAR(time / bench.Run(Fidelity::Flow, call), 1, 1e-3)
                << ToString(algorithm) << " " << ToString(op) << " " << bytes.Count();
        }
    }
}

/** Two nodes per leaf and a quarter of the uplinks: levels of trees share a few of these. */
ClusterSpec
UnequalLinks()
{
    ClusterSpec spec = H100Boxes(8);
    spec.fabric.kind = LeafSpine();
    spec.fabric.kind.As<ClosFabric>().leafRadix = 20;
    spec.fabric.kind.As<ClosFabric>().oversubscription = 4;
    return spec;
}

// The closed form of the first chunks is up to a third too long here.
TEST(FirstPasses, OfTreesAreThoseOfFlowOverUnequalLinks)
{
    CollectiveBench bench(UnequalLinks());
    Planner& planner = bench.GetPlanner();
    const auto id = planner.AddCommunicator(FirstGpus(64));
    for (const Algorithm algorithm : {Algorithm::Tree, Algorithm::NvlsTree})
    {
        for (const int64_t size : {1, 4, 16, 128})
        {
            const auto call =
                WithAlgorithm(MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(size)), algorithm);
            // All passes of up to 16 MiB are played, so only the rounding of legs differs.
            const double error = size > 16 ? 0.02 : 1e-6;
            EXPECT_NEAR(planner.Plan(call).duration / bench.Run(Fidelity::Flow, call), 1, error)
                << ToString(algorithm) << " of " << size << " MiB";
            EXPECT_NEAR(bench.Run(Fidelity::Stream, call) / planner.Plan(call).duration, 1, 1e-6);
        }
    }
}

// A user that plays all calls does not need these times: the plan is the closed form, which is
// larger.
TEST(FirstPasses, AreNotPlayedForWhoKeepsToClosedForms)
{
    const auto duration = [](bool played) {
        CollectiveBench bench(UnequalLinks());
        Planner& planner = bench.GetPlanner();
        if (!played)
        {
            planner.UseClosedForms();
        }
        const auto id = planner.AddCommunicator(FirstGpus(64));
        const auto call = MakeCall(id, CollectiveOp::AllReduce, Bytes::MiB(16));
        return planner.Plan(WithAlgorithm(call, Algorithm::NvlsTree)).duration;
    };
    EXPECT_GT(duration(false) / duration(true), 1.1);
}

} // namespace
} // namespace weir
