// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-keys.h"

#include "scenarios/readers/scenario-names.h"

#include <limits>

namespace weir
{
namespace
{

constexpr ParameterRange<Bytes> ANY_SIZE{Bytes(), Bytes(std::numeric_limits<int64_t>::max())};

// Products of two of these stay within 32 bits.
constexpr uint32_t MAX_RANKS = 65535;
constexpr uint32_t MAX_SAMPLES = 1 << 24; // per step

/** How the model and a step's samples are distributed over ranks. */
void
VisitDegrees(ParallelPlan& plan, ParameterVisitor& visitor)
{
    visitor.Count({"tensor", "Tensor-parallel ranks."}, plan.tensor, {1, MAX_RANKS});
    visitor.Count({"pipeline", "Pipeline stages."}, plan.pipeline, {1, MAX_RANKS});
    visitor.Count({"data", "Data-parallel replicas."}, plan.data, {1, MAX_RANKS});
    visitor.Count({"context", "Ranks that share a sequence."}, plan.context, {1, MAX_RANKS});
    visitor.Enum({"contextExchange",
                  "How they see each other's keys and values: ring, all-gather or pieces."},
                 plan.contextExchange,
                 ContextExchangeNames());
    visitor.Count(
        {"expert", "Ranks that share the experts of a layer."}, plan.expert, {1, MAX_RANKS});
    visitor.Count({"expertTensor", "Ranks that share an expert; 0: as many as tensor."},
                  plan.expertTensor,
                  {0, MAX_RANKS});
    visitor.Flag({"sequenceParallel",
                  "Whether tensor parallelism also splits the sequence of norms and dropouts."},
                 plan.sequenceParallel);
    visitor.Enum({"schedule", "Of the pipeline: 1f1b, interleaved, gpipe, zb-h1, zb-1p or zb-2p."},
                 plan.schedule,
                 ScheduleNames());
    visitor.Count({"virtualStages", "Model chunks of a stage; more than 1 only when interleaved."},
                  plan.virtualStages,
                  {1, MAX_RANKS});
    visitor.Count(
        {"microBatch", "Samples of one micro-batch."}, plan.microBatch, {1, MAX_RANKS + 1});
    visitor.Count({"globalBatch", "Samples of one step, over all replicas."},
                  plan.globalBatch,
                  {1, MAX_SAMPLES});
}

/** Kernels, recomputation and the overlap of communication. */
void
VisitKernels(ParallelPlan& plan, ParameterVisitor& visitor)
{
    visitor.Enum({"recomputation",
                  "In backward: none, selective (attention cores), full, needed or operators."},
                 plan.recomputation,
                 RecomputationNames());
    visitor.Enum({"attention", "fused (one flash-attention kernel) or unfused."},
                 plan.attention,
                 AttentionNames());
    visitor.Number(
        {"attentionSpeed", "Of the fused kernel over the one that the GPU's figures are of."},
        plan.attentionSpeed,
        {0.01, 100});
    visitor.Flag({"overlapTensor", "Whether kernels run beside tensor-parallel communication."},
                 plan.overlapTensor);
    visitor.Flag(
        {"splitGemms", "Whether GEMMs go beside gathers and scatterings of their operands."},
        plan.splitGemms);
    visitor.Flag(
        {"overlapGradients", "Whether data-parallel gradients go in buckets during backward."},
        plan.overlapGradients);
    visitor.Size({"bucket", "Gradient bytes of a bucket when overlapped."}, plan.bucket, ANY_SIZE);
    visitor.Flag({"distributedOptimizer", "Whether replicas share the optimizer's state (ZeRO-1)."},
                 plan.distributedOptimizer);
}

void
VisitSharding(ParallelPlan& plan, ParameterVisitor& visitor)
{
    visitor.Enum(
        {"dataSharding.state", "What replicas distribute: none, optimizer, gradients or full."},
        plan.sharding.state,
        ShardedStateNames());
    visitor.Count({"dataSharding.ranks", "Neighbors that hold one copy together; 0: all replicas."},
                  plan.sharding.ranks,
                  {0, MAX_RANKS});
    visitor.Flag({"dataSharding.reshard", "Whether weights are given up after a forward pass."},
                 plan.sharding.reshard);
    visitor.Count({"dataSharding.prefetch", "Units whose weights are gathered ahead."},
                  plan.sharding.prefetch,
                  {0, MAX_RANKS});
    visitor.Flag(
        {"dataSharding.everyPass", "Whether gradients are reduced after each micro-batch."},
        plan.sharding.everyPass);
    visitor.Flag({"dataSharding.scatter", "Whether each rank gets its part of the gradients only."},
                 plan.sharding.scatter);
    visitor.Flag({"dataSharding.overlapGather",
                  "Whether updated weights are gathered beside the next forward pass."},
                 plan.sharding.overlapGather);
    visitor.Flag(
        {"dataSharding.perParameter", "Whether tensors are copied between buffers and parameters."},
        plan.sharding.perParameter);
}

void
VisitEmbeddings(ParallelPlan& plan, ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_WIDTH = 65536; // of a row
    visitor.Enum({"embeddings.placement", "How embedding tables lie: tables, rows or columns."},
                 plan.embeddings.placement,
                 EmbeddingPlacementNames());
    visitor.Enum({"embeddings.balance", "What tables are distributed by: lookups or size."},
                 plan.embeddings.balance,
                 EmbeddingBalanceNames());
    visitor.Size({"embeddings.splitAbove", "Larger tables go by rows."},
                 plan.embeddings.splitAbove,
                 ANY_SIZE);
    visitor.Size({"embeddings.splitColumnsAbove", "Larger tables go by columns."},
                 plan.embeddings.splitColumnsAbove,
                 ANY_SIZE);
    visitor.Count({"embeddings.columnWidth", "Columns of a part of a table that goes by columns."},
                  plan.embeddings.columnWidth,
                  {1, MAX_WIDTH});
    visitor.Enum({"embeddings.optimizer", "Of embedding rows: sgd, rowwise-adagrad or adagrad."},
                 plan.embeddings.optimizer,
                 EmbeddingOptimizerNames());
    visitor.Flag({"embeddings.exchangeIndices",
                  "Whether ranks send the indices of their samples to where the rows are."},
                 plan.embeddings.exchangeIndices);
}

void
VisitFramework(ParallelPlan& plan, ParameterVisitor& visitor)
{
    const ParameterRange<Time> LAUNCHES{Time(), Time::Seconds(3600)};
    visitor.Enum({"fusion", "How many kernels stand between GEMMs: eager, kernels or compiled."},
                 plan.fusion,
                 KernelFusionNames());
    visitor.Enum({"loss",
                  "How the loss is computed: default (as fusion has it), vocabulary-parallel, "
                  "log-softmax or in-place."},
                 plan.loss,
                 LossNames());
    visitor.Count({"recomputeEvery", "Of so many layers one is recomputed."},
                  plan.recomputeEvery,
                  {1, MAX_RANKS});
    visitor.Flag({"fp32Gradients", "Whether gradients are kept and reduced in 4 bytes."},
                 plan.fp32Gradients);
    visitor.Flag({"postValidation",
                  "Whether stages update and go on before all agree on the gradient norm."},
                 plan.postValidation);
    visitor.Flag(
        {"fusedUpdate", "Whether one kernel unscales and clips gradients and updates weights."},
        plan.fusedUpdate);
    visitor.Flag(
        {"scatterGatherPipeline", "Whether each tensor rank sends its part of a stage boundary."},
        plan.scatterGatherPipeline);
    visitor.Flag(
        {"embeddingsAsLayers",
         "Whether word embedding and loss count as layers when layers are assigned to stages."},
        plan.embeddingsAsLayers);
    visitor.Duration({"host.kernel", "CPU time to launch a kernel, the framework's own included."},
                     plan.host.kernel,
                     LAUNCHES);
    visitor.Duration({"host.communication", "CPU time to launch a collective or transfer."},
                     plan.host.communication,
                     LAUNCHES);
    visitor.Flag({"host.syncBatches", "Whether the CPU waits before each forward pass."},
                 plan.host.syncBatches);
    visitor.Flag(
        {"host.syncTransfers", "Whether the CPU waits until pipeline transfers have ended."},
        plan.host.syncTransfers);
    visitor.Flag({"host.syncPasses", "Whether the CPU waits before and after each pass."},
                 plan.host.syncPasses);
    visitor.Flag(
        {"host.syncLayers", "Whether the CPU waits before each recomputed layer's passes."},
        plan.host.syncLayers);
}

} // namespace

PlanKeys::PlanKeys(ParallelPlan& plan)
    : m_plan(plan)
{
}

void
PlanKeys::VisitParameters(ParameterVisitor& visitor)
{
    VisitDegrees(m_plan, visitor);
    VisitKernels(m_plan, visitor);
    VisitSharding(m_plan, visitor);
    VisitEmbeddings(m_plan, visitor);
    VisitFramework(m_plan, visitor);
}

ParallelPlan
DefaultPlan()
{
    ParallelPlan plan;
    plan.host = EagerHost();
    return plan;
}

std::string
MapOfKey(const std::string& key)
{
    const std::size_t dot = key.find('.');
    return dot == std::string::npos ? "" : key.substr(0, dot);
}

std::string
NameInMap(const std::string& key)
{
    return key.substr(key.find('.') + 1); // the whole key when there is no dot
}

} // namespace weir
