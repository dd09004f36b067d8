// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/stage-layers.h"

#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

/**
 * Layers of a chunk that is neither first nor last; with embeddingsAsLayers the embedding and the
 * loss count as a layer each.
 */
uint32_t
WholeChunk(const Transformer& model, const ParallelPlan& plan)
{
    const uint32_t assigned = model.layers + (plan.embeddingsAsLayers ? 2 : 0);
    return assigned / (plan.pipeline * plan.virtualStages);
}

} // namespace

uint32_t
LayersOfChunk(const Transformer& model, const ParallelPlan& plan, uint32_t stage, uint32_t chunk)
{
    uint32_t layers = WholeChunk(model, plan);
    if (plan.embeddingsAsLayers)
    {
        layers -= stage == 0 && chunk == 0 ? 1 : 0;
        layers -= stage == plan.pipeline - 1 && chunk == plan.virtualStages - 1 ? 1 : 0;
    }
    return layers;
}

uint32_t
FirstLayerOfChunk(const Transformer& model,
                  const ParallelPlan& plan,
                  uint32_t stage,
                  uint32_t chunk)
{
    const uint32_t before = chunk * plan.pipeline + stage;
    return before * WholeChunk(model, plan) - (plan.embeddingsAsLayers && before > 0 ? 1 : 0);
}

uint32_t
LayersOfStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    uint32_t layers = 0;
    for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
    {
        layers += LayersOfChunk(model, plan, stage, chunk);
    }
    return layers;
}

namespace
{

double
NormParameters(const Transformer& model)
{
    return static_cast<double>(model.NormVectors()) * model.hidden;
}

/** Biases of QKV and of the first MLP GEMM. */
double
ColumnBiases(const Transformer& model)
{
    const double qkv = (model.heads + 2.0 * model.kvHeads) * model.headDim;
    const double inner = static_cast<double>(model.MlpInputs()) * model.ffn;
    return model.biases ? qkv + inner : 0.0;
}

/**
 * Parameters that tensor ranks hold whole: norms and the biases of the two row-parallel linear
 * layers. In a grid: a rank's columns of all parameters that are not matrices, which the ranks of a
 * column replicate.
 */
double
WholeLayerParameters(const Transformer& model, const ParallelPlan& plan)
{
    const double whole = 2 * NormParameters(model) + (model.biases ? 2.0 * model.hidden : 0.0);
    return plan.HasGrid() ? (whole + ColumnBiases(model)) / plan.WidthParts() : whole;
}

/**
 * Parameters of the prediction head on one rank: tensor ranks hold it whole, ranks of a grid by
 * blocks.
 */
double
RankHeadParameters(const Transformer& model, const ParallelPlan& plan)
{
    const double columns = static_cast<double>(model.hidden / plan.HiddenParts());
    return model.predictionHead
               ? columns * columns + columns + NormParameters(model) / plan.HiddenParts()
               : 0.0;
}

/** Layers with experts in @p stage. */
uint32_t
ExpertLayersOfStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    uint32_t layers = 0;
    for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
    {
        layers += model.ExpertLayersOf(FirstLayerOfChunk(model, plan, stage, chunk),
                                       LayersOfChunk(model, plan, stage, chunk));
    }
    return layers;
}

/**
 * Split parameters of a layer with experts minus those of a layer with an MLP; routed experts are
 * excluded.
 */
double
SplitExpertLayerSurplus(const Transformer& model)
{
    const double bias = model.biases ? model.hidden : 0.0;
    const double shared =
        model.moe.sharedFfn > 0 ? model.MlpParameters(model.moe.sharedFfn) - bias : 0.0;
    return shared - (model.MlpParameters(model.ffn) - bias);
}

/**
 * Whole parameters of a layer with experts minus those of a layer with an MLP: the router, and
 * without a shared expert no bias of a second GEMM.
 */
double
WholeExpertLayerSurplus(const Transformer& model)
{
    const double bias = model.biases && model.moe.sharedFfn == 0 ? 1 : 0;
    return model.hidden * (model.moe.experts - bias);
}

} // namespace

double
RankLayerParameters(const Transformer& model, const ParallelPlan& plan, bool hasExperts)
{
    if (hasExperts)
    {
        return RankLayerParameters(model, plan) + WholeExpertLayerSurplus(model) +
               SplitExpertLayerSurplus(model) / plan.tensor;
    }
    const double whole = WholeLayerParameters(model, plan);
    const double split = model.LayerParameters() - whole * (plan.HasGrid() ? plan.WidthParts() : 1);
    return split / plan.WeightRanks() + whole;
}

double
RankWordParameters(const Transformer& model, const ParallelPlan& plan)
{
    return static_cast<double>(model.hidden / plan.HiddenParts()) *
           static_cast<double>(PaddedVocabulary(model, plan) / plan.WidthParts());
}

double
WholeStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    double whole = WholeLayerParameters(model, plan) * LayersOfStage(model, plan, stage) +
                   WholeExpertLayerSurplus(model) * ExpertLayersOfStage(model, plan, stage);
    if (stage == 0 && model.learnedPositions)
    {
        whole += static_cast<double>(model.hidden / plan.HiddenParts()) * model.sequence;
    }
    if (stage == plan.pipeline - 1)
    {
        whole += NormParameters(model) / plan.HiddenParts() + RankHeadParameters(model, plan);
    }
    return whole;
}

double
RankExpertParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const uint32_t layers = ExpertLayersOfStage(model, plan, stage);
    return layers == 0 ? 0.0 : layers * ExpertShape(model, plan).parameters;
}

double
RankStageParameters(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const double layer = RankLayerParameters(model, plan) - WholeLayerParameters(model, plan);
    double split =
        layer * LayersOfStage(model, plan, stage) +
        SplitExpertLayerSurplus(model) / plan.tensor * ExpertLayersOfStage(model, plan, stage);
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
