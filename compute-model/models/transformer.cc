// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/transformer.h"

namespace weir
{

uint32_t
Transformer::ExpertLayersOf(uint32_t first, uint32_t count) const
{
    uint32_t found = 0;
    for (uint32_t layer = first; layer < first + count; layer++)
    {
        found += IsExpertLayer(layer) ? 1 : 0;
    }
    return found;
}

double
Transformer::MlpParameters(double width) const
{
    const double h = hidden;
    const double inner = MlpInputs() * width;
    return h * inner + h * width + (biases ? inner + h : 0);
}

double
Transformer::LayerParameters() const
{
    const double h = hidden;
    const double query = static_cast<double>(heads) * headDim;
    const double keyValue = 2.0 * kvHeads * headDim;
    const double attention = h * (query + keyValue) + query * h;
    const double bias = biases ? query + keyValue + h : 0;
    const double norms = 2 * NormVectors() * h;
    return attention + bias + MlpParameters(ffn) + norms;
}

double
Transformer::ExpertLayerParameters() const
{
    const double router = static_cast<double>(hidden) * moe.experts;
    const double shared = moe.sharedFfn > 0 ? MlpParameters(moe.sharedFfn) : 0;
    return LayerParameters() - MlpParameters(ffn) + router + shared +
           moe.experts * MlpParameters(moe.ffn);
}

double
Transformer::PredictionHeadParameters() const
{
    const double h = hidden;
    return predictionHead ? h * h + h + NormVectors() * h : 0;
}

double
Transformer::Parameters() const
{
    const double h = hidden;
    const double words = h * vocabulary * (tiedEmbeddings ? 1 : 2);
    const double positions = learnedPositions ? h * sequence : 0;
    const double finalNorm = NormVectors() * h;
    const uint32_t expertLayers = ExpertLayersOf(0, layers);
    const double stack =
        (layers - expertLayers) * LayerParameters() + expertLayers * ExpertLayerParameters();
    return stack + words + positions + finalNorm + PredictionHeadParameters();
}

} // namespace weir
