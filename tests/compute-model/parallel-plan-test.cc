// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/parallel-plan.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

ParallelPlan
GoodPlan()
{
    ParallelPlan plan;
    plan.tensor = 8;
    plan.pipeline = 4;
    plan.data = 2;
    plan.globalBatch = 32;
    return plan;
}

/** Applies a change to a valid model and plan, and expects a refusal with exactly this message. */
void
ExpectRefused(const std::string& message,
              const std::function<void(Transformer&, ParallelPlan&)>& change)
{
    Transformer model = SampleGpt(24, 4096, 32);
    ParallelPlan plan = GoodPlan();
    EXPECT_NO_THROW(CheckPlan(model, plan));
    change(model, plan);
    try
    {
        CheckPlan(model, plan);
        ADD_FAILURE() << "accepted; expected: " << message;
    }
    catch (const std::invalid_argument& refusal)
    {
        EXPECT_EQ(refusal.what(), message);
    }
}

TEST(ParallelPlan, RefusesByField)
{
    ExpectRefused("tensor: found 3, expected a divisor of heads = 32",
                  [](Transformer&, ParallelPlan& plan) { plan.tensor = 3; });
    ExpectRefused("tensor: found 8, expected a divisor of kvHeads = 4",
                  [](Transformer& model, ParallelPlan&) { model.kvHeads = 4; });
    ExpectRefused("tensor: found 8, expected a divisor of ffn = 12",
                  [](Transformer& model, ParallelPlan&) { model.ffn = 12; });
    ExpectRefused("tensor: found 8, expected a divisor of sequence = 2047",
                  [](Transformer& model, ParallelPlan& plan) {
                      model.sequence = 2047;
                      plan.sequenceParallel = true;
                  });
    ExpectRefused("tensor: found 0, expected at least 1",
                  [](Transformer&, ParallelPlan& plan) { plan.tensor = 0; });
    ExpectRefused("microBatch: found 0, expected at least 1",
                  [](Transformer&, ParallelPlan& plan) { plan.microBatch = 0; });
    ExpectRefused("pipeline: found 5, expected a divisor of layers = 24",
                  [](Transformer&, ParallelPlan& plan) { plan.pipeline = 5; });
    ExpectRefused("microBatch * data: found 10, expected a divisor of globalBatch = 32",
                  [](Transformer&, ParallelPlan& plan) { plan.microBatch = 5; });
    ExpectRefused("virtualStages: found 2, expected 1 unless the schedule is interleaved",
                  [](Transformer&, ParallelPlan& plan) { plan.virtualStages = 2; });
    ExpectRefused("virtualStages: found 1, expected at least 2 with the interleaved schedule",
                  [](Transformer&, ParallelPlan& plan) {
                      plan.schedule = PipelineScheduleKind::Interleaved;
                  });
    ExpectRefused("pipeline * virtualStages: found 20, expected a divisor of layers = 24",
                  [](Transformer&, ParallelPlan& plan) {
                      plan.schedule = PipelineScheduleKind::Interleaved;
                      plan.virtualStages = 5;
                  });
    ExpectRefused(
        "globalBatch: found 36, expected micro-batches per pipeline (here 18) divisible "
        "by pipeline = 4 with the interleaved schedule",
        [](Transformer&, ParallelPlan& plan) {
            plan.schedule = PipelineScheduleKind::Interleaved;
            plan.virtualStages = 2;
            plan.globalBatch = 36;
        });
    ExpectRefused("bucket: found 0 bytes, expected more than 0 when gradients overlap",
                  [](Transformer&, ParallelPlan& plan) { plan.bucket = Bytes(); });
    ExpectRefused("kvHeads: found 24, expected a divisor of heads = 32",
                  [](Transformer& model, ParallelPlan&) { model.kvHeads = 24; });
    ExpectRefused("layers: found 0, expected at least 1",
                  [](Transformer& model, ParallelPlan&) { model.layers = 0; });
}

TEST(ParallelPlan, CountsRanksAndMicroBatches)
{
    EXPECT_EQ(GoodPlan().Ranks(), 64U);
    EXPECT_EQ(GoodPlan().MicroBatches(), 16U);
}

} // namespace
} // namespace weir
