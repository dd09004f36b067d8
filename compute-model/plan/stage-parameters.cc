// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/stage-parameters.h"

#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/stage-layers.h"

namespace weir
{

namespace
{

double
NormParameters(const Transformer& model)
{
    return (model.norm == NormKind::LayerNorm ? 2.0 : 1.0) * model.hidden;
}

/** Norms and the biases of the two row-parallel linear layers. */
double
WholeLayerParameters(const Transformer& model)
{
    return 2 * NormParameters(model) + (model.biases ? 2.0 * model.hidden : 0.0);
}

} // namespace

double
RankLayerParameters(const Transformer& model, const ParallelPlan& plan)
{
    const double whole = WholeLayerParameters(model);
    return (model.LayerParameters() - whole) / plan.tensor + whole;
}

double
RankWordParameters(const Transformer& model, const ParallelPlan& plan)
{
    return static_cast<double>(model.hidden) *
           static_cast<double>(PaddedVocabulary(model, plan) / plan.tensor);
}

double
WholeStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    double whole = WholeLayerParameters(model) * LayersOfStage(model, plan, stage);
    if (stage == 0 && model.learnedPositions)
    {
        whole += static_cast<double>(model.hidden) * model.sequence;
    }
    if (stage == plan.pipeline - 1)
    {
        whole += NormParameters(model);
    }
    return whole;
}

double
RankStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const double layer = RankLayerParameters(model, plan) - WholeLayerParameters(model);
    double split = layer * LayersOfStage(model, plan, stage);
    if (stage == 0)
    {
        split += RankWordParameters(model, plan);
    }
    const bool ownWords = !model.tiedEmbeddings || plan.pipeline > 1;
    if (stage == plan.pipeline - 1 && ownWords)
    {
        split += RankWordParameters(model, plan);
    }
    return split + WholeStageParameters(model, plan, stage);
}

} // namespace weir
