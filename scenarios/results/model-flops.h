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
 * Model FLOPs of training on @p samples sequences: the forward and backward passes without
 * recomputation. Counts GEMMs only, and attention without the savings of causal masking
 * (Korthikanti et al. 2022, arXiv 2205.05198, appendix A). For a GPT with l layers, hidden size h,
 * sequence length s, vocabulary size v and B samples: 72 B l s h^2 (1 + s / (6 h) + v / (12 h l)).
 * An expert counts for the tokens routed to it that it computes: with evenly distributed tokens, a
 * capacity factor c below 1 drops the fraction 1 - c of them (Fedus et al. 2022, Switch
 * Transformers, 2.2).
 */
Flops ModelFlops(const Transformer& model, double samples, const ExpertLoad& load = {});

/** The same for a table of layers: six operations per multiply-add of convolutions and GEMMs. */
Flops ModelFlops(const LayerTable& table, double samples);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_MODEL_FLOPS_H
