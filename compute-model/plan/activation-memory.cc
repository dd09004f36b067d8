// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/activation-memory.h"

#include "compute-model/plan/pipeline-schedule.h"
#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/stage-layers.h"

#include <algorithm>
#include <array>
#include <vector>

namespace weir
{

namespace
{

/** Activation bytes of one layer and micro-batch, grouped by how recomputation treats them. */
struct LayerParts
{
    double input{0};       //!< the layer's input
    double body{0};        //!< everything but the attention scores, input included
    double scores{0};      //!< the s x s matrices
    double gemmOutputs{0}; //!< outputs of attention and of every second GEMM
};

/** Bytes held per logit. */
struct LogitBytes
{
    double kept{0};   //!< from the loss's forward to its backward pass
    double atWork{0}; //!< in addition, while either pass runs
};

LogitBytes
BytesOfLogit(const ParallelPlan& plan)
{
    const double element = ActivationBytes(plan.precision);
    switch (plan.Loss())
    {
    case LossKernels::LogSoftmax:
        return {FP32_BYTES, 2 * FP32_BYTES}; // gradients of the log-softmax and of the logits
    case LossKernels::InPlace:
        return {element, 0};
    case LossKernels::VocabularyParallel:
    case LossKernels::Default:
        break;
    }
    return {FP32_BYTES, element}; // the logits as the GEMM writes them, later their gradient
}

/**
 * Bytes that an MLP split over tensor ranks keeps: inputs and output of the activation function.
 */
double
MlpBody(const Transformer& model, const ParallelPlan& plan, double tokens, double width)
{
    const double sides = model.MlpInputs() + 1;
    return tokens * ActivationBytes(plan.precision) * sides * width / plan.WidthParts();
}

/**
 * Bytes that a mixture of experts keeps: the rows that experts receive, their intermediate
 * activations, the returned rows and the routing scores.
 */
double
ExpertBody(const Transformer& model, const ParallelPlan& plan)
{
    const ExpertShape shape(model, plan);
    const double inside = static_cast<double>(shape.received) *
                          static_cast<double>(model.hidden + shape.inner + shape.ffn);
    const double back = static_cast<double>(shape.sent) * model.hidden;
    const double routing = 2.0 * static_cast<double>(shape.tokens) * model.moe.experts;
    return (inside + back) * ActivationBytes(plan.precision) + routing * FP32_BYTES;
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
    // Split over tensor ranks: Q, K, V, the attention output, and the inputs and output of the
    // activation function.
    parts.body += tokens * element * static_cast<double>(shape.qkv + shape.query);
    parts.body += hasExperts
                      ? MlpBody(model, plan, tokens, model.moe.sharedFfn) + ExpertBody(model, plan)
                      : MlpBody(model, plan, tokens, model.ffn);
    // Of the GEMMs q, k, v, o, gate, up, down, the outputs of q, v, gate and down are kept.
    const uint64_t value = (shape.qkv - shape.query) / 2;
    const auto attention = static_cast<double>(shape.query + value + shape.query);
    parts.gemmOutputs = element * tokens * attention;
    if (!hasExperts) // a mixture of experts is recomputed as a whole
    {
        const auto gate = static_cast<double>(shape.ffn);
        parts.gemmOutputs += element * (tokens * gate + normTokens * hidden);
    }
    if (plan.attention == AttentionKind::Unfused)
    {
        // Softmax output, and with dropout its mask and its output.
        const double kept = model.dropout ? 2 * element + 1 : element;
        parts.scores = kept * tokens * static_cast<double>(shape.heads) * model.sequence;
    }
    return parts;
}

/**
 * Elements that a mixture of experts keeps until W: inputs and output gradients of the grouped
 * GEMMs and of the shared expert's GEMMs.
 */
double
ExpertsHeldForWeights(const Transformer& model, const ParallelPlan& plan)
{
    const ExpertShape experts(model, plan);
    const RankShape shape(model, plan);
    const double shared = static_cast<double>(model.moe.sharedFfn) / plan.WidthParts();
    const double hidden = model.hidden;
    double elements = static_cast<double>(experts.received) *
                      (2 * hidden + static_cast<double>(experts.inner + experts.ffn));
    if (shared > 0)
    {
        elements += static_cast<double>(shape.normTokens) * hidden +
                    static_cast<double>(shape.tokens) * (hidden + (model.MlpInputs() + 1) * shared);
    }
    return elements;
}

/**
 * Peak bytes under a zero-bubble schedule: the worst mix of micro-batches that await B and of
 * micro-batches that await W.
 */
double
HeldOfSplitPasses(const PipelinePosition& position, double forActivations, double forWeights)
{
    const uint32_t all = MicroBatchesHeld(position);
    const uint32_t max = forWeights > forActivations ? MicroBatchesBeforeWeights(position)
                                                     : all - MicroBatchesInFlight(position, 0);
    return forActivations * (all - max) + forWeights * max;
}

} // namespace

double
LayerHeldForWeights(const Transformer& model, const ParallelPlan& plan, bool hasExperts)
{
    const RankShape shape(model, plan);
    const auto tokens = static_cast<double>(shape.tokens);
    const auto normTokens = static_cast<double>(shape.normTokens);
    const auto hidden = static_cast<double>(shape.hidden);
    // QKV and projection; then the GEMMs of the MLP.
    double elements = normTokens * hidden + tokens * static_cast<double>(shape.qkv) +
                      tokens * (static_cast<double>(shape.query) + hidden);
    elements += hasExperts
                    ? ExpertsHeldForWeights(model, plan)
                    : normTokens * hidden + tokens * (static_cast<double>(shape.inner) +
                                                      static_cast<double>(shape.ffn) + hidden);
    return elements * ActivationBytes(plan.precision);
}

double
LayerActivations(const Transformer& model, const ParallelPlan& plan, bool hasExperts)
{
    const LayerParts parts = PartsOf(model, plan, hasExperts);
    switch (plan.recomputation)
    {
    case Recomputation::Full:
    case Recomputation::Needed:
        return parts.input;
    case Recomputation::Selective:
        return parts.body;
    case Recomputation::Operators:
        return parts.input + parts.gemmOutputs;
    case Recomputation::None:
        break;
    }
    return parts.body + parts.scores;
}

namespace
{

/** Layers of one model chunk of a stage that have experts, or of those that have none. */
struct LayersOfKind
{
    uint32_t layers{0};
    uint32_t recomputed{0}; //!< number of them of which only LayerActivations are kept
};

/** Layers of one model chunk of a stage, without experts and with experts. */
using Chunk = std::array<LayersOfKind, 2>;

/** Selective recomputation is that of every layer: recomputeEvery counts whole layers. */
bool
KeepsLess(const ParallelPlan& plan, uint32_t layer)
{
    return plan.recomputation == Recomputation::Selective || plan.Recomputes(layer);
}

Chunk
ChunkOf(const Transformer& model, const ParallelPlan& plan, uint32_t stage, uint32_t index)
{
    Chunk chunk;
    const uint32_t first = FirstLayerOfChunk(model, plan, stage, index);
    for (uint32_t layer = first; layer < first + LayersOfChunk(model, plan, stage, index); layer++)
    {
        LayersOfKind& kind = chunk[model.IsExpertLayer(layer)];
        kind.layers++;
        kind.recomputed += KeepsLess(plan, layer) ? 1 : 0;
    }
    return chunk;
}

/** Activation bytes of a layer that is not recomputed. */
double
WholeLayer(const Transformer& model, const ParallelPlan& plan, bool hasExperts)
{
    const LayerParts parts = PartsOf(model, plan, hasExperts);
    return parts.body + parts.scores;
}

/** The sum of @p bytesOf(kind, hasExperts) over the kinds of layers that a chunk has. */
template <typename BytesOf>
double
OverKinds(const Chunk& chunk, const BytesOf& bytesOf)
{
    double sum = 0;
    for (const bool hasExperts : {false, true})
    {
        sum += chunk[hasExperts].layers > 0 ? bytesOf(chunk[hasExperts], hasExperts) : 0;
    }
    return sum;
}

/** Activation bytes that the layers of a chunk keep of one micro-batch until its backward pass. */
double
KeptOf(const Transformer& model, const ParallelPlan& plan, const Chunk& chunk)
{
    return OverKinds(chunk, [&](const LayersOfKind& kind, bool hasExperts) {
        return LayerActivations(model, plan, hasExperts) * kind.recomputed +
               WholeLayer(model, plan, hasExperts) * (kind.layers - kind.recomputed);
    });
}

/** Maximum bytes that the recomputation of one layer of a chunk restores. */
double
RestoredOf(const Transformer& model, const ParallelPlan& plan, const Chunk& chunk)
{
    double max = 0;
    for (const bool hasExperts : {false, true})
    {
        if (chunk[hasExperts].recomputed > 0)
        {
            max = std::max(max,
                           WholeLayer(model, plan, hasExperts) -
                               LayerActivations(model, plan, hasExperts));
        }
    }
    return max;
}

/**
 * Peak activation bytes of a stage. With several model chunks, the peak depends on the order of the
 * schedule.
 */
double
HeldOfPasses(const Transformer& model, const ParallelPlan& plan, const PipelinePosition& position)
{
    std::vector<double> kept;
    for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
    {
        kept.push_back(KeptOf(model, plan, ChunkOf(model, plan, position.stage, chunk)));
    }
    if (plan.virtualStages == 1)
    {
        return kept.front() * std::min(PipelineWarmUp(position) + 1, plan.MicroBatches());
    }
    // The pattern repeats every round of p micro-batches, and the warm-up is shorter than two
    // rounds.
    constexpr uint32_t ROUNDS = 4;
    PipelinePosition first = position;
    first.microBatches = std::min(position.microBatches, ROUNDS * position.stages);
    double held = 0;
    double max = 0;
    for (const PipelineStep& step : PipelineSchedule(first))
    {
        held += step.kind == PipelineStepKind::Forward ? kept[step.chunk] : 0;
        held -= step.kind == PipelineStepKind::Backward ? kept[step.chunk] : 0;
        max = std::max(max, held);
    }
    return max;
}

} // namespace

Bytes
StageActivations(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const PipelinePosition position = PositionOf(plan, stage);
    const RankShape shape(model, plan);
    double atWork = 0; // restored by recomputation
    for (uint32_t chunk = 0; chunk < plan.virtualStages; chunk++)
    {
        atWork = std::max(atWork, RestoredOf(model, plan, ChunkOf(model, plan, stage, chunk)));
    }
    double total = 0;
    if (plan.SplitsBackward())
    {
        const Chunk all = ChunkOf(model, plan, stage, 0);
        // until the pass for weight gradients (W)
        const double forWeights = OverKinds(all, [&](const LayersOfKind& kind, bool hasExperts) {
            return LayerHeldForWeights(model, plan, hasExperts) * kind.layers;
        });
        total = HeldOfSplitPasses(position, KeptOf(model, plan, all), forWeights);
    }
    else
    {
        total = HeldOfPasses(model, plan, position);
    }
    if (stage == 0 && model.dropout)
    {
        const uint32_t microBatches = MicroBatchesInFlight(position, 0);
        total += static_cast<double>(shape.normTokens) * static_cast<double>(shape.hidden) *
                 microBatches;
    }
    if (stage == plan.pipeline - 1)
    {
        const double norm = 2 * PartsOf(model, plan, false).input;
        const double logits =
            static_cast<double>(shape.tokens) * static_cast<double>(shape.vocabulary);
        const LogitBytes each = BytesOfLogit(plan);
        total += (norm + logits * each.kept) * MicroBatchesInFlight(position, position.chunks - 1);
        atWork = std::max(atWork, logits * each.atWork);
    }
    return EstimatedBytes(total + atWork);
}

} // namespace weir
