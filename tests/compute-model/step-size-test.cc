// SPDX-License-Identifier: GPL-2.0-only

#include "compute-model/graph/step-builder.h"
#include "compute-model/kernels/kernel-time.h"
#include "compute-model/layers/kernel-table.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

ParallelPlan
Plan(PipelineScheduleKind schedule, uint32_t microBatches)
{
    ParallelPlan plan;
    plan.tensor = 2;
    plan.pipeline = 4;
    plan.schedule = schedule;
    plan.globalBatch = microBatches;
    return plan;
}

double
Estimate(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    StepGraph graph;
    const KernelTimer timer(gpu, ClockRegime::Burst);
    KernelTable kernels(graph, timer);
    return EstimateOperations(StepSegments(kernels, model, plan), model, plan);
}

// The estimate counts the operations of layers, not those of the embedding, the loss, the transfers
// and the optimizer, and some operations are merged: it is within a third of the number of
// operations written.
TEST(StepSize, IsAboutWhatIsWritten)
{
    const Transformer model = SampleGpt(16, 1024, 16);
    const Gpu gpu = SampleGpu();
    for (const auto schedule :
         {PipelineScheduleKind::OneForwardOneBackward, PipelineScheduleKind::ZeroBubbleH1})
    {
        const ParallelPlan plan = Plan(schedule, 64);
        double written = 0;
        for (const StepProgram& program : BuildTransformerStep(model, plan, gpu).programs)
        {
            for (const auto& stream : program.streams)
            {
                written += static_cast<double>(stream.size());
            }
        }
        EXPECT_NEAR(Estimate(model, plan, gpu) / written, 1, 1.0 / 3);
    }
}

// A plan whose graph would be too large is refused before it is built, in one line that names the
// maximum.
TEST(StepSize, RefusesWhatCannotBeHeld)
{
    const ParallelPlan plan = Plan(PipelineScheduleKind::ZeroBubbleH1, 1'000'000);
    std::string refusal;
    try
    {
        BuildTransformerStep(SampleGpt(16, 1024, 16), plan, SampleGpu());
    }
    catch (const std::invalid_argument& error)
    {
        refusal = error.what();
    }
    EXPECT_EQ(refusal.find("globalBatch: found 1000000 micro-batches per replica"), 0U) << refusal;
    EXPECT_NE(refusal.find("expected at most"), std::string::npos) << refusal;
    EXPECT_EQ(refusal.find('\n'), std::string::npos);
}

} // namespace
} // namespace weir
