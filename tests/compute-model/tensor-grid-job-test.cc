// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/training-run.h"

#include "sample-machine.h"
#include "single-rank-engine.h"
#include "transformer-samples.h"

#include "collectives/engines/analytical-engine.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir
{
namespace
{

struct Outcome
{
    Time step;
    std::vector<RankBreakdown> ranks;
};

template <typename Engine>
Outcome
Train(const ParallelPlan& plan)
{
    SampleMachine machine(SampleMachineSpec(plan.Ranks() / 8, 16));
    Engine engine(machine.planner);
    TrainingJobSpec spec;
    spec.network = SampleGpt(2, 4096, 32);
    spec.plan = plan;
    for (std::size_t gpu = 0; gpu < plan.Ranks(); gpu++)
    {
        spec.gpus.emplace_back(gpu);
    }
    TrainingRun job(spec, SampleGpu(), machine.planner, engine);
    EngineSet engines;
    engines.Add(job.GetExecutor());
    engines.Add(engine);
    engines.RunToEnd();
    EXPECT_TRUE(job.GetExecutor().IsFinished()) << job.GetExecutor().DescribeWaiting();
    return {job.GetExecutor().StepTimes().at(0), job.GetExecutor().Breakdown()};
}

ParallelPlan
GridPlan(uint32_t side, uint32_t depth, uint32_t samples)
{
    ParallelPlan plan;
    plan.grid = {side, depth};
    plan.tensor = side * side * depth;
    plan.microBatch = samples;
    plan.globalBatch = samples;
    return plan;
}

// Broadcasts of a grid row from different roots may take different times, as do columns over
// several nodes; folded ranks still end when each of them would.
TEST(TensorGridJob, RanksThatAreAlikeAreExecutedOnce)
{
    for (const auto& plan : {GridPlan(4, 2, 8), GridPlan(2, 4, 8)})
    {
        const Outcome apart = Train<SingleRankEngine>(plan);
        const Outcome folded = Train<AnalyticalEngine>(plan);
        ASSERT_EQ(folded.ranks.size(), apart.ranks.size());
        for (std::size_t rank = 0; rank < apart.ranks.size(); rank++)
        {
            for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
            {
                EXPECT_NEAR(folded.ranks[rank].spent[i].ToPicoseconds(),
                            apart.ranks[rank].spent[i].ToPicoseconds(),
                            10)
                    << "rank " << rank << ", " << ToString(static_cast<TimeCategory>(i));
            }
        }
    }
}

// With p ranks in a row, each layer sends its T h activations around 4 times, 8 (p - 1) / p T h
// elements per GPU. On [q, q, d] it is about 21 (q - 1) T h / (d q^2) of activations and 36 (q - 1)
// h^2 / q^2 of weights. For 32 GPUs on [4, 4, 2] and T = 32 h that is 1.97 + 0.21 of T h against
// 7.75.
TEST(TensorGridJob, BlocksMoveLessThanRowsOfManyTokens)
{
    ParallelPlan row = GridPlan(0, 1, 64);
    row.tensor = 32;
    const auto tensor = [](const Outcome& outcome) {
        return outcome.ranks[0].spent[static_cast<std::size_t>(TimeCategory::Tensor)];
    };
    EXPECT_LT(tensor(Train<AnalyticalEngine>(GridPlan(4, 2, 64))),
              tensor(Train<AnalyticalEngine>(row)));
}

} // namespace
} // namespace weir
