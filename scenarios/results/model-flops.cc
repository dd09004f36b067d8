// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/model-flops.h"

#include <algorithm>

namespace weir
{

Flops
ModelFlops(const Transformer& model, double samples, const ExpertLoad& load)
{
    const double width = model.hidden;
    const double queries = static_cast<double>(model.heads) * model.headDim;
    const double keysAndValues = 2.0 * model.kvHeads * model.headDim;
    const double mlpMatrices = model.activation == ActivationKind::SwiGlu ? 3 : 2;
    const double attentionWeights = width * (2 * queries + keysAndValues);
    const double mlpWeights = mlpMatrices * width * model.ffn;
    const ExpertLayers& moe = model.moe;
    const double computed = load.capacityFactor > 0 ? std::min(1.0, load.capacityFactor) : 1;
    const double expertWeights =
        width * moe.experts + mlpMatrices * width * (computed * moe.ffn * moe.topK + moe.sharedFfn);
    const uint32_t expertLayers = model.ExpertLayersOf(0, model.layers);
    const double weights = model.layers * attentionWeights +
                           (model.layers - expertLayers) * mlpWeights +
                           expertLayers * expertWeights;
    const double attention = 2 * queries * model.sequence; // multiply-adds per token: QK^T and PV
    const double head = model.predictionHead ? width * width : 0;
    const double perToken = weights + model.layers * attention + head + width * model.vocabulary;
    constexpr double OPERATIONS_PER_MULTIPLY_ADD = 2;
    constexpr double PASSES = 3; // forward, gradient of inputs, gradient of weights
    return Flops(PASSES * OPERATIONS_PER_MULTIPLY_ADD * perToken * model.sequence * samples);
}

Flops
ModelFlops(const LayerTable& table, double samples)
{
    constexpr double OPERATIONS = 6; // three passes, a multiply and an add each
    return Flops(OPERATIONS * table.MultiplyAdds() * samples);
}

} // namespace weir
