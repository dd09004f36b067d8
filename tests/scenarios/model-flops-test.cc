// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/model-flops.h"

#include <gtest/gtest.h>

namespace weir
{
namespace
{

/**
 * Korthikanti et al. 2022, appendix A: 72 B l s h^2 (1 + s / (6 h) + v / (12 h l)), here for
 * GPT-22B (l 48, h 6144, s 2048, v 51200) and a batch of 4.
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

/** Six operations a weight and token (forward 2, backward 4), when attention is left out. */
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

} // namespace
} // namespace weir
