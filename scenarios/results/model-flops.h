// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_MODEL_FLOPS_H
#define WEIR_SCENARIOS_RESULTS_MODEL_FLOPS_H

#include "compute-model/models/layer-table.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

namespace weir
{

/**
 * The operations that training on @p samples sequences needs, forward and backward, without any
 * recomputation: matrix products only, attention counted without the causal saving (Korthikanti et
 * al. 2022, arXiv 2205.05198, appendix A). For a GPT with l layers, width h, sequence s,
 * vocabulary v and B samples: 72 B l s h^2 (1 + s / (6 h) + v / (12 h l)). Of experts those count
 * that a token goes to and that compute it: a capacity c of the mean that tokens are spread by
 * evenly drops 1 - c of them where it is below 1 (Fedus et al. 2022, Switch Transformers, 2.2).
 */
Flops ModelFlops(const Transformer& model, double samples, const ExpertLoad& load = {});

/** The same for a table of layers: six operations a multiply-add of convolutions and matrices. */
Flops ModelFlops(const LayerTable& table, double samples);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_MODEL_FLOPS_H
