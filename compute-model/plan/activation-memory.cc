// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/activation-memory.h"

#include "compute-model/layers/segment-writer.h"
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
    double input{0};  //!< of the layer
    double body{0};   //!< everything but the attention scores, input included
    double scores{0}; //!< the s x s matrices
};

LayerParts
PartsOf(const Transformer& model, const ParallelPlan& plan)
{
    const RankShape shape(model, plan);
    const double element = ActivationBytes(plan.precision);
    const double tokens = static_cast<double>(shape.tokens);
    const double normTokens = static_cast<double>(shape.normTokens);
    const double hidden = model.hidden;
    const double mask = model.dropout ? 1 : 0;
    LayerParts parts;
    parts.input = normTokens * hidden * element;
    // Kept on all tokens of norm regions: inputs of two norms and of two column-parallel layers,
    // and two dropout masks.
    parts.body = normTokens * hidden * (4 * element + 2 * mask);
    // Split over tensor ranks: Q, K, V, the context, and both sides of the activation function.
    parts.body +=
        tokens * element * static_cast<double>(shape.qkv + shape.query + shape.inner + shape.ffn);
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
LayerActivations(const Transformer& model, const ParallelPlan& plan)
{
    const LayerParts parts = PartsOf(model, plan);
    switch (plan.recomputation)
    {
    case Recomputation::Full:
        return Bytes::Nearest(parts.input);
    case Recomputation::Selective:
        return Bytes::Nearest(parts.body);
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

    const LayerParts parts = PartsOf(model, plan);
    const RankShape shape(model, plan);
    const Bytes whole = Bytes::Nearest(parts.body + parts.scores);
    const Bytes kept = LayerActivations(model, plan);
    Bytes total = kept * chunkLayers * inFlight + (whole - kept);
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
