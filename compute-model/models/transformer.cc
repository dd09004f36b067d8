// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/transformer.h"

namespace weir
{

double
Transformer::LayerParameters() const
{
    const double h = hidden;
    const double query = static_cast<double>(heads) * headDim;
    const double keyValue = 2.0 * kvHeads * headDim;
    const double inner = activation == ActivationKind::SwiGlu ? 2.0 * ffn : ffn;
    const double linear = h * (query + keyValue) + query * h + h * inner + h * ffn;
    const double bias = biases ? query + keyValue + h + inner + h : 0;
    const double norms = 2 * (norm == NormKind::LayerNorm ? 2 * h : h);
    return linear + bias + norms;
}

double
Transformer::Parameters() const
{
    const double h = hidden;
    const double words = h * vocabulary * (tiedEmbeddings ? 1 : 2);
    const double positions = learnedPositions ? h * sequence : 0;
    const double finalNorm = norm == NormKind::LayerNorm ? 2 * h : h;
    return layers * LayerParameters() + words + positions + finalNorm;
}

} // namespace weir
