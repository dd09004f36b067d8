// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/pipeline-time.h"

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

// K slices through S hops of one rate: K + S - 1 crossings; a last slice that is not full, its
// part.
TEST_F(PipelineTimes, OneChainIsTextbook)
{
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 1)}), 3, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 2)}), 4, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 40)}), 42, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 40.25)}), 42.25, 2e-7);
    EXPECT_NEAR(InSlices({Chain({0, 1, 2}, 0.5)}), 3, 1e-9); // its slice is what it says
}

// A block that is busy for 2.5 crossings with a slice hands it on after one: K slices through S
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

// Two chains over the same two hops in opposite order: a single slice of each has every hop for
// itself, K > 1 meet the other one's in all ticks but the first and the last: 2 + 2 (K - 1).
TEST_F(PipelineTimes, ChannelsMeetOnlyWhenFull)
{
    EXPECT_NEAR(InSlices({Chain({0, 1}, 1), Chain({1, 0}, 1)}), 2, 1e-9);
    EXPECT_NEAR(InSlices({Chain({0, 1}, 10), Chain({1, 0}, 10)}), 20, 1e-9);
}

TEST_F(PipelineTimes, ACapBoundsEveryCrossing)
{
    Pipeline capped = Chain({0, 1, 2}, 4);
    capped.cap = Rate::GBps(18 * 20.6 / 3);
    EXPECT_NEAR(InSlices({capped}), 18, 1e-9);
    EXPECT_EQ(PipelineTime({}, m_bench.GetFabric().GetRouting()), Time());
}

} // namespace
} // namespace weir
