// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-shape.h"

namespace weir
{

RankShape::RankShape(const Transformer& model, const ParallelPlan& plan)
    : samples(plan.microBatch / plan.SampleParts()),
      tokens(static_cast<uint64_t>(model.sequence) / plan.context * samples),
      normTokens(plan.sequenceParallel ? tokens / plan.tensor : tokens),
      hidden(model.hidden / plan.HiddenParts()),
      heads(model.heads / plan.WidthParts()),
      kvHeads(model.kvHeads / plan.WidthParts()),
      query(heads * model.headDim),
      qkv(query + 2 * kvHeads * model.headDim),
      inner((model.activation == ActivationKind::SwiGlu ? 2 : 1) *
            static_cast<uint64_t>(model.ffn / plan.WidthParts())),
      ffn(model.ffn / plan.WidthParts()),
      vocabulary(PaddedVocabulary(model, plan) / plan.WidthParts()),
      boundary(static_cast<int64_t>(tokens * hidden * ActivationBytes(plan.precision))),
      stageBoundary(!plan.HasGrid() && (plan.sequenceParallel || plan.scatterGatherPipeline)
                        ? boundary / plan.tensor
                        : boundary)
{
}

uint64_t
PaddedVocabulary(const Transformer& model, const ParallelPlan& plan)
{
    const uint64_t multiple = static_cast<uint64_t>(model.vocabularyMultiple) * plan.WidthParts();
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

} // namespace weir
