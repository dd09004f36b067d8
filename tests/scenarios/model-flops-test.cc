// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/model-flops.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/**
 * Korthikanti et al. 2022, appendix A: 72 B l s h^2 (1 + s / (6 h) + v / (12 h l)), here for
 * GPT-22B (l = 48, h = 6144, s = 2048, v = 51200) and a batch of B = 4.
 */
TEST(ModelFlops, EqualsTheClosedFormOfAGpt)
{
    Transformer model;
    model.layers = 48;
    model.hidden = 6144;
    model.heads = model.kvHeads = 64;
    model.headDim = 96;
    model.ffn = 4 * 6144;
    model.sequence = 2048;
    model.vocabulary = 51200;
    const double l = 48;
    const double h = 6144;
    const double s = 2048;
    const double v = 51200;
    const double expected = 72 * 4 * l * s * h * h * (1 + s / (6 * h) + v / (12 * h * l));
    EXPECT_NEAR(ModelFlops(model, 4).ToDouble() / expected, 1, 1e-12);
}

/** Six operations per parameter and token (2 forward, 4 backward) without attention. */
TEST(ModelFlops, CountsSixPerWeightOfALlama)
{
    Transformer model;
    model.layers = 32;
    model.hidden = 4096;
    model.heads = 32;
    model.kvHeads = 8;
    model.headDim = 128;
    model.ffn = 14336;
    model.sequence = 1;
    model.vocabulary = 128256;
    model.activation = ActivationKind::SwiGlu;
    const double layer = 4096.0 * 4096 * 2 + 2.0 * 4096 * 1024 + 3.0 * 4096 * 14336;
    const double weights = 32 * layer + 4096.0 * 128256;
    const double attention = 32 * 2.0 * 4096;
    EXPECT_NEAR(ModelFlops(model, 1).ToDouble(), 6 * (weights + attention), 1);
}

// Two of 8 experts per token with f rows take 6 B s (2 l) 3 h (2 f) operations in all. A capacity
// factor of 0.5 drops one of the two choices of each token; with uniform routing, a factor of 1 or
// more drops none.
TEST(ModelFlops, CountsNoTokensThatACapacityDrops)
{
    Transformer model;
    model.layers = 2;
    model.hidden = 1024;
    model.heads = model.kvHeads = 8;
    model.headDim = 128;
    model.ffn = 4096;
    model.sequence = 512;
    model.vocabulary = 32000;
    model.activation = ActivationKind::SwiGlu;
    model.moe.experts = 8;
    model.moe.topK = 2;
    model.moe.ffn = 2048;
    const auto flopsOf = [&model](double capacity) {
        ExpertLoad load;
        load.capacityFactor = capacity;
        return ModelFlops(model, 4, load).ToDouble();
    };
    const double dropless = ModelFlops(model, 4).ToDouble();
    const double experts = 6.0 * 4 * 512 * 2 * 3 * 1024 * 2 * 2048;
    EXPECT_NEAR(flopsOf(0.5), dropless - experts / 2, 1e-9 * dropless);
    for (const double capacity : {0.0, 1.0, 1.25})
    {
        EXPECT_EQ(flopsOf(capacity), dropless);
    }
}

} // namespace
} // namespace weir
