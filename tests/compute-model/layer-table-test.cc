// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "graph-run.h"
#include "replicas.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

LayerTable
Resnet(const std::vector<uint32_t>& blocks)
{
    LayerTableBuilder builder({3, 224, 224});
    builder.Convolution(64, {7, 2, 3}, 1, false);
    builder.Keep(TableOp::BatchNorm);
    builder.Keep(TableOp::Relu);
    builder.Pool(TableOp::MaxPool, {3, 2, 1});
    for (uint32_t stage = 0; stage < 4; stage++)
    {
        for (uint32_t block = 0; block < blocks[stage]; block++)
        {
            builder.Residual(64U << stage, stage > 0 && block == 0 ? 2 : 1, true);
        }
    }
    builder.GlobalAveragePool();
    builder.Linear(1000, true);
    builder.Keep(TableOp::Loss);
    return {"resnet", "", builder.Take(), {}};
}

LayerTable
Perceptron()
{
    LayerTableBuilder builder({512, 1, 1});
    builder.Linear(1024, true);
    builder.Keep(TableOp::Relu);
    builder.Linear(256, true);
    builder.Keep(TableOp::Loss);
    return {"perceptron", "", builder.Take(), {}};
}

// Stated layers are placed where they are given and determine the next shape: a window of 8 at
// stride 8 takes 3 x 32 x 32 to 16 x 4 x 4, the 256 inputs of a linear layer of 10.
TEST(LayerTableBuilder, TakesStatedLayersAtTheirPosition)
{
    LayerTableBuilder plain({3, 32, 32});
    plain.Convolution(16, {8, 8, 0}, 1, false);
    plain.Linear(10, false);
    const std::vector<TableLayer> expected = plain.Take();

    LayerTableBuilder builder({3, 32, 32});
    builder.State(expected[0]);
    builder.Linear(10, false);
    const std::vector<TableLayer> layers = builder.Take();
    ASSERT_EQ(layers.size(), 2U);
    EXPECT_EQ(layers[0].op, TableOp::Convolution);
    EXPECT_EQ(layers[1].Parameters(), 256 * 10);
    EXPECT_EQ(layers[1].Parameters(), expected[1].Parameters());

    TableLayer wrong = expected[0];
    wrong.out.width = 5;
    EXPECT_THROW(builder.State(wrong), std::invalid_argument);
    wrong = expected[0];
    wrong.groups = 2; // does not divide three channels
    EXPECT_THROW(builder.State(wrong), std::invalid_argument);
}

// Parameters of torchvision's ResNet-50 and -152 (its documentation): 25,557,032 and 60,192,808.
// Multiply-adds with the stride in the 3x3 convolution (torchvision): 4.09e9 and 11.51e9; with it
// in the 1x1 convolution (He et al. 2016, table 1): 3.8e9 and 11.3e9.
TEST(LayerTable, ResnetsHaveTheirFigures)
{
    EXPECT_EQ(Resnet({3, 4, 6, 3}).Parameters(), 25557032);
    EXPECT_EQ(Resnet({3, 8, 36, 3}).Parameters(), 60192808);
    EXPECT_NEAR(Resnet({3, 4, 6, 3}).MultiplyAdds(), 4.09e9, 0.005e9);
    EXPECT_NEAR(Resnet({3, 8, 36, 3}).MultiplyAdds(), 11.51e9, 0.005e9);
}

// The two backward passes are two forward passes, except for the first layer's input gradient.
TEST(TableStep, FlopsAreThreeForwardPasses)
{
    const LayerTable table = Perceptron();
    const ParallelPlan plan = Replicas(4, 64);
    const double found = GemmFlops(BuildTableStep(table, plan, SampleGpu()));
    const double samples = plan.globalBatch;
    const double first = 2.0 * 512 * 1024;
    EXPECT_EQ(found, samples * (6 * table.MultiplyAdds() - first));
}

// Buckets contain all gradients; each is closed by the layer that fills it.
TEST(TableStep, BucketsCoverEveryParameter)
{
    const LayerTable table = Resnet({3, 4, 6, 3});
    ParallelPlan plan = Replicas(8, 16);
    plan.bucket = Bytes::MiB(25);
    const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
    double bytes = 0;
    std::size_t buckets = 0;
    for (const StepOp& op :
         graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)])
    {
        bytes += op.bytes.ToDouble();
        buckets++;
    }
    EXPECT_EQ(bytes, 4 * table.Parameters());
    EXPECT_EQ(buckets, 4U); // 102 MB in buckets of at least 25 MiB
}

// Reductions at 10 us per MB: with overlap only that of the last bucket is exposed, which holds
// what is left over and therefore less than 25 MiB; without overlap, the single one of all
// gradients.
TEST(TableStep, OverlapHidesReductions)
{
    const LayerTable table = Resnet({3, 4, 6, 3});
    ParallelPlan plan = Replicas(8, 64);
    plan.bucket = Bytes::MiB(25);
    const auto reduction = [](Bytes bytes) { return Time::Microseconds(bytes.ToDouble() / 1e5); };
    const auto last = [&](bool overlaps) {
        plan.overlapGradients = overlaps;
        const StepGraph graph = BuildTableStep(table, plan, SampleGpu());
        const Bytes bytes =
            graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)].back().bytes;
        const Execution run(graph,
                            [&](const CollectiveCall& call) { return reduction(call.bytes); });
        EXPECT_EQ(run.Breakdown().size(), 8U);
        for (const RankBreakdown& rank : run.Breakdown())
        {
            EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()),
                      run.StepTime());
        }
        EXPECT_EQ(run.Spent(0, TimeCategory::Data), reduction(bytes)) << overlaps;
        return bytes;
    };
    EXPECT_LT(last(true), Bytes::MiB(25));
    EXPECT_EQ(last(false), Bytes(4 * 25557032));
}

// Each residual block adds the gradients of its two branches where they join, three passes over the
// block's input: blocks of ResNet-50 have inputs of 64 x 56^2, 2 of 256 x 56^2, one more before 3
// of 512 x 28^2, and so on.
TEST(TableStep, ResidualBlocksAddTheirSidesGradients)
{
    const LayerTable table = Resnet({3, 4, 6, 3});
    const StepGraph graph = BuildTableStep(table, Replicas(1, 2), SampleGpu());
    double elements = 0;
    int blocks = 0;
    for (const KernelRecord& kernel : graph.kernels)
    {
        if (graph.labels.at(kernel.name).find("sum of sides") != std::string::npos)
        {
            elements += kernel.bytes.ToDouble() / (3 * 4 * 2); // operands, bytes, samples
            blocks++;
        }
    }
    EXPECT_EQ(blocks, 3 + 4 + 6 + 3);
    const double side56 = 56 * 56;
    EXPECT_EQ(elements,
              side56 * (64 + 3 * 256) + side56 / 4 * (4 * 512) + side56 / 16 * (6 * 1024) +
                  side56 / 64 * (2 * 2048));
}

// The backward pass of a perceptron needs the outputs of its linear layers and its loss, 1024 + 256
// + 256 numbers per sample; the ReLU works in place.
TEST(TableStep, ReluTakesNoMemory)
{
    const MemoryEstimate memory = EstimateTableMemory(Perceptron(), Replicas(1, 100));
    EXPECT_EQ(memory.activations.Count(), 100 * (1024 + 256 + 256) * 4);
    EXPECT_EQ(memory.embeddings, Bytes());
}

TEST(LayerTable, RefusesWhatDoesNotFit)
{
    LayerTableBuilder builder({3, 8, 8});
    try
    {
        builder.Convolution(4, {11, 1, 1}, 1, true);
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "layer convolution 1: found a window of 11 with stride 1, expected a window "
                     "that fits into 10");
    }
    ParallelPlan plan = Replicas(2, 4);
    plan.tensor = 2;
    try
    {
        CheckTablePlan(Perceptron(), plan);
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "tensor: found 2, expected 1 for perceptron, a table of layers, which "
                     "supports only data parallelism");
    }
    plan.tensor = 1;
    plan.sequenceParallel = true;
    try
    {
        CheckTablePlan(Perceptron(), plan);
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(),
                     "sequenceParallel: found true, expected false for a table of layers");
    }
}

} // namespace
} // namespace weir
