// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/model-flops.h"

namespace weir
{

Flops
ModelFlops(const Transformer& model, double samples)
{
    const double width = model.hidden;
    const double queries = static_cast<double>(model.heads) * model.headDim;
    const double keysAndValues = 2.0 * model.kvHeads * model.headDim;
    const double mlpMatrices = model.activation == ActivationKind::SwiGlu ? 3 : 2;
    const double layerWeights =
        width * (2 * queries + keysAndValues) + mlpMatrices * width * model.ffn;
    const double attention = 2 * queries * model.sequence; // multiply-adds per token: QK^T and PV
    const double perToken = model.layers * (layerWeights + attention) + width * model.vocabulary;
    constexpr double OPERATIONS_PER_MULTIPLY_ADD = 2;
    constexpr double PASSES = 3; // forward, gradient of inputs, gradient of weights
    return Flops(PASSES * OPERATIONS_PER_MULTIPLY_ADD * perToken * model.sequence * samples);
}

} // namespace weir
