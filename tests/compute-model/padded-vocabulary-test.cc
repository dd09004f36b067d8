// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-shape.h"

#include "transformer-samples.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

Transformer
Words(uint32_t vocabulary, uint32_t multiple)
{
    Transformer model = SampleGpt(2, 1024, 16);
    model.vocabulary = vocabulary;
    model.vocabularyMultiple = multiple;
    return model;
}

ParallelPlan
Tensor(uint32_t ranks)
{
    ParallelPlan plan;
    plan.tensor = ranks;
    return plan;
}

// GPT-2's 50257 words become 50304 = 393 x 128 on one rank and 50688 = 99 x 512 on four. With a
// multiple of one they stay, or become the next number divisible by four.
TEST(PaddedVocabulary, IsTheNextMultipleOfItsParts)
{
    EXPECT_EQ(PaddedVocabulary(Words(50257, 128), Tensor(1)), 50304u);
    EXPECT_EQ(PaddedVocabulary(Words(50257, 128), Tensor(4)), 50688u);
    EXPECT_EQ(PaddedVocabulary(Words(50257, 1), Tensor(1)), 50257u);
    EXPECT_EQ(PaddedVocabulary(Words(50257, 1), Tensor(4)), 50260u);
    EXPECT_EQ(RankShape(Words(50257, 1), Tensor(4)).vocabulary, 50260u / 4);
}

} // namespace
} // namespace weir
