// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/transformer.h"

#include "compute-model/plan/stage-layers.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

// Narayanan et al. 2021, equation 2: P = 12 l h^2 (1 + 13/(12h) + (V + s)/(12 l h)), plus the final
// norm's 2h, which it omits.
TEST(Transformer, GptParametersFollowNarayanan)
{
    const Transformer model = SampleGpt(96, 12288, 96);
    const double l = 96;
    const double h = 12288;
    const double expected = 12 * l * h * h * (1 + 13 / (12 * h) + (51200.0 + 2048) / (12 * l * h));
    EXPECT_DOUBLE_EQ(model.Parameters(), expected + 2 * h);
    EXPECT_NEAR(model.Parameters(), 174.6e9, 0.05e9);
    // Table 1 of the same paper, to its last digit.
    EXPECT_NEAR(SampleGpt(24, 2304, 24).Parameters(), 1.7e9, 0.05e9);
    EXPECT_NEAR(SampleGpt(96, 16384, 128).Parameters(), 310.1e9, 0.05e9);
    EXPECT_NEAR(SampleGpt(105, 20480, 128).Parameters(), 529.6e9, 0.05e9);
    EXPECT_NEAR(SampleGpt(128, 25600, 160).Parameters(), 1008.0e9, 0.05e9);
}

// Touvron et al. 2023: 70B is 68.98e9 parameters (the released checkpoint's tensors summed).
TEST(Transformer, LlamaParametersAreThoseOfItsCheckpoint)
{
    EXPECT_DOUBLE_EQ(SampleLlama70b().Parameters(), 68976648192.0);
}

// The parameters of the ranks sum to the model, if weights that every tensor rank holds whole count
// once, without padding and without the last stage's copy of a tied embedding.
TEST(Transformer, RanksHoldTheWholeModel)
{
    for (const Transformer& model : {SampleGpt(8, 4096, 32), SampleLlama70b()})
    {
        ParallelPlan plan;
        plan.tensor = 8;
        plan.pipeline = 4;
        double sum = 0;
        for (uint32_t stage = 0; stage < plan.pipeline; stage++)
        {
            const double whole = WholeStageParameters(model, plan, stage);
            sum += (RankStageParameters(model, plan, stage) - whole) * plan.tensor + whole;
        }
        const double padding = RankWordParameters(model, plan) * plan.tensor -
                               static_cast<double>(model.hidden) * model.vocabulary;
        const double copies =
            model.tiedEmbeddings ? RankWordParameters(model, plan) * plan.tensor : padding;
        EXPECT_DOUBLE_EQ(sum, model.Parameters() + padding + copies);
    }
}

} // namespace
} // namespace weir
