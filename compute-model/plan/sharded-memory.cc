// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/sharded-memory.h"

#include "compute-model/models/precision.h"
#include "compute-model/plan/shard-units.h"
#include "compute-model/plan/stage-parameters.h"

#include <algorithm>

namespace weir
{

void
WriteShardedState(const Transformer& model, const ParallelPlan& plan, MemoryEstimate& estimate)
{
    const double parameters = RankStageParameters(model, plan, estimate.stage);
    const double experts = RankExpertParameters(model, plan, estimate.stage);
    const double part = parameters / plan.ShardRanks() + experts / plan.ExpertShardRanks();
    estimate.weights = Bytes::Nearest(part * FP32_BYTES);
    estimate.gradients = Bytes::Nearest(part * FP32_BYTES);
    estimate.optimizer = Bytes::Nearest(part * 2 * FP32_BYTES);

    const double weight = ActivationBytes(plan.precision);
    const double reduced = plan.fp32Gradients ? FP32_BYTES : weight;
    const std::vector<double> units = UnitParameters(model, plan, estimate.stage);
    const std::vector<double> ofExperts = UnitExpertParameters(model, plan, estimate.stage);
    const auto layers = static_cast<double>(units.size() - 1);
    double layer = 0; // the largest
    for (std::size_t unit = 0; unit + 1 < units.size(); unit++)
    {
        layer = std::max(layer, units[unit] + ofExperts[unit]);
    }
    const double root = units.back();
    const double held =
        plan.sharding.reshard ? std::min(layers, 1.0 + plan.sharding.prefetch) : layers;
    const double kept = std::min(held * layer, parameters + experts - root);
    double whole = (root + kept) * weight;
    // The root unit's gradients wait for the embedding's; they are reduced when no layer is left.
    whole += root * weight + layer * (weight + reduced);
    // Of a single pass the first is the last, whose gradients are reduced.
    whole +=
        plan.sharding.everyPass || plan.MicroBatches() == 1 ? 0 : (parameters + experts) * reduced;
    estimate.gathered = Bytes::Nearest(whole);
}

} // namespace weir
