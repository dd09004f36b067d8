// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/activation-memory.h"

#include "compute-model/plan/expert-shape.h"
#include "compute-model/plan/pipeline-schedule.h"
#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/stage-layers.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Bytes of one layer and micro-batch by how they are kept. */
struct LayerParts
{
    double input{0};    //!< of the layer
    double body{0};     //!< everything but the attention scores, input included
    double scores{0};   //!< the s x s matrices
    double products{0}; //!< outputs of attention and of every other matrix product
};

/** What an MLP split over tensor ranks keeps: both sides of the activation function. */
double
MlpBody(const Transformer& model, const ParallelPlan& plan, double tokens, double width)
{
    const double sides = model.activation == ActivationKind::SwiGlu ? 3 : 2;
    return tokens * ActivationBytes(plan.precision) * sides * width / plan.WidthParts();
}

/** What a mixture of experts keeps: rows in front of and behind its experts, and their insides. */
double
ExpertBody(const Transformer& model, const ParallelPlan& plan)
{
    const ExpertShape shape(model, plan);
    const double inside = static_cast<double>(shape.received) *
                          static_cast<double>(model.hidden + shape.inner + shape.ffn);
    const double back = static_cast<double>(shape.sent) * model.hidden;
    const double routing = 2.0 * static_cast<double>(shape.tokens) * model.moe.experts;
    return (inside + back) * ActivationBytes(plan.precision) + routing * BytesOf(Precision::Fp32);
}

LayerParts
PartsOf(const Transformer& model, const ParallelPlan& plan, bool hasExperts)
{
    const RankShape shape(model, plan);
    const double element = ActivationBytes(plan.precision);
    const double tokens = static_cast<double>(shape.tokens);
    const double normTokens = static_cast<double>(shape.normTokens);
    const double hidden = static_cast<double>(shape.hidden);
    const double mask = model.dropout ? 1 : 0;
    LayerParts parts;
    parts.input = normTokens * hidden * element;
    // Kept on all tokens of norm regions: inputs of two norms and of two column-parallel layers,
    // and two dropout masks.
    parts.body = normTokens * hidden * (4 * element + 2 * mask);
    // Split over tensor ranks: Q, K, V, the context, and both sides of the activation function.
    parts.body += tokens * element * static_cast<double>(shape.qkv + shape.query);
    parts.body += hasExperts
                      ? MlpBody(model, plan, tokens, model.moe.sharedFfn) + ExpertBody(model, plan)
                      : MlpBody(model, plan, tokens, model.ffn);
    // Of the products q, k, v, o, gate, up, down these are kept: q, v, gate, down.
    const uint64_t value = (shape.qkv - shape.query) / 2;
    const auto split = static_cast<double>(shape.query + value + shape.query + shape.ffn);
    parts.products = element * (tokens * split + normTokens * hidden);
    if (plan.attention == AttentionKind::Unfused)
    {
        // Softmax output, and with dropout its mask and its output.
        const double kept = model.dropout ? 2 * element + 1 : element;
        parts.scores = kept * tokens * static_cast<double>(shape.heads) * model.sequence;
    }
    return parts;
}

} // namespace

Bytes
LayerActivations(const Transformer& model, const ParallelPlan& plan, bool hasExperts)
{
    const LayerParts parts = PartsOf(model, plan, hasExperts);
    switch (plan.recomputation)
    {
    case Recomputation::Full:
    case Recomputation::Needed:
        return Bytes::Nearest(parts.input);
    case Recomputation::Selective:
        return Bytes::Nearest(parts.body);
    case Recomputation::Operators:
        return Bytes::Nearest(parts.input + parts.products);
    case Recomputation::None:
        break;
    }
    return Bytes::Nearest(parts.body + parts.scores);
}

Bytes
StageActivations(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    PipelinePlace place;
    place.kind = plan.schedule;
    place.stage = stage;
    place.stages = plan.pipeline;
    place.microBatches = plan.MicroBatches();
    place.chunks = plan.virtualStages;
    const uint32_t passes = plan.MicroBatches() * plan.virtualStages;
    const uint32_t inFlight = std::min(PipelineWarmUp(place) + 1, passes);
    const uint32_t fullestChunk = plan.virtualStages == 1 ? 0 : 1; // ends may have a layer fewer
    const uint32_t chunkLayers = LayersOfChunk(model, plan, stage, fullestChunk);

    const uint32_t withExperts =
        model.ExpertLayersOf(FirstLayerOfChunk(model, plan, stage, fullestChunk), chunkLayers);
    const LayerParts parts = PartsOf(model, plan, withExperts > 0);
    const RankShape shape(model, plan);
    const Bytes whole = Bytes::Nearest(parts.body + parts.scores);
    Bytes kept = LayerActivations(model, plan, false) * (chunkLayers - withExperts);
    if (withExperts > 0)
    {
        kept += LayerActivations(model, plan, true) * withExperts;
    }
    // Layers that are not recomputed keep all.
    const uint32_t spared =
        plan.recomputation == Recomputation::None
            ? 0
            : chunkLayers - (chunkLayers + plan.recomputeEvery - 1) / plan.recomputeEvery;
    kept += (whole - LayerActivations(model, plan, withExperts > 0)) * spared;
    Bytes total = kept * inFlight + (whole - LayerActivations(model, plan, withExperts > 0));
    if (stage == 0 && model.dropout)
    {
        const uint32_t microBatches = std::min(plan.pipeline, plan.MicroBatches());
        total += Bytes(static_cast<int64_t>(shape.normTokens * shape.hidden)) * microBatches;
    }
    if (stage == plan.pipeline - 1)
    {
        const double norm = 2 * parts.input;
        const double logits = static_cast<double>(shape.tokens) *
                              static_cast<double>(shape.vocabulary) * BytesOf(Precision::Fp32);
        total += Bytes::Nearest(norm + logits);
    }
    return total;
}

} // namespace weir
