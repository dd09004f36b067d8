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
    visitor.Count({"tensor", "Number of tensor-parallel ranks."}, plan.tensor, {1, MAX_RANKS});
    visitor.Count({"pipeline", "Number of pipeline stages."}, plan.pipeline, {1, MAX_RANKS});
    visitor.Count({"data", "Number of data-parallel replicas."}, plan.data, {1, MAX_RANKS});
    visitor.Count({"context", "Number of context-parallel ranks, which share a sequence."},
                  plan.context,
                  {1, MAX_RANKS});
    visitor.Enum(
        {"contextExchange",
         "Exchange of keys and values between context-parallel ranks: ring, all-gather or pieces."},
        plan.contextExchange,
        {{"ring", ContextExchange::Ring},
         {"all-gather", ContextExchange::AllGather},
         {"pieces", ContextExchange::Pieces}});
    visitor.Count(
        {"expert", "Number of expert-parallel ranks, which share the experts of a layer."},
        plan.expert,
        {1, MAX_RANKS});
    visitor.Count(
        {"expertTensor", "Number of tensor-parallel ranks of an expert; 0: as many as tensor."},
        plan.expertTensor,
        {0, MAX_RANKS});
    visitor.Flag(
        {"sequenceParallel",
         "Whether norms and dropouts are split along the sequence (sequence parallelism)."},
        plan.sequenceParallel);
    visitor.Enum(
        {"schedule", "Pipeline schedule: 1f1b, interleaved, gpipe, zb-h1, zb-1p or zb-2p."},
        plan.schedule,
        ScheduleNames());
    visitor.Count({"virtualStages",
                   "Number of model chunks per stage; more than 1 only with schedule interleaved."},
                  plan.virtualStages,
                  {1, MAX_RANKS});
    visitor.Count(
        {"microBatch", "Number of samples per micro-batch."}, plan.microBatch, {1, MAX_RANKS + 1});
    visitor.Count({"globalBatch", "Number of samples per step, over all replicas."},
                  plan.globalBatch,
                  {1, MAX_SAMPLES});
}

/** Kernels, recomputation and the overlap of communication. */
void
VisitKernels(ParallelPlan& plan, ParameterVisitor& visitor)
{
    visitor.Enum({"recomputation",
                  "Activation recomputation in the backward pass: none, selective (attention "
                  "cores), full, needed or operators."},
                 plan.recomputation,
                 RecomputationNames());
    visitor.Enum({"attention", "Attention kernels: fused (one flash-attention kernel) or unfused."},
                 plan.attention,
                 {{"unfused", AttentionKind::Unfused}, {"fused", AttentionKind::Fused}});
    visitor.Number({"attentionSpeed",
                    "Speed of the fused attention kernel relative to the one measured on the GPU."},
                   plan.attentionSpeed,
                   {0.01, 100});
    visitor.Flag({"overlapTensor", "Whether other kernels overlap tensor-parallel communication."},
                 plan.overlapTensor);
    visitor.Flag({"splitGemms",
                  "Whether GEMMs are split into pieces that overlap the gather of their operand or "
                  "the scatter of their result."},
                 plan.splitGemms);
    visitor.Flag(
        {"overlapGradients",
         "Whether data-parallel gradients are reduced in buckets that overlap the backward pass."},
        plan.overlapGradients);
    visitor.Size({"bucket", "Size of a gradient bucket when gradient reduction is overlapped."},
                 plan.bucket,
                 ANY_SIZE);
    visitor.Flag({"distributedOptimizer", "Whether replicas shard the optimizer state (ZeRO-1)."},
                 plan.distributedOptimizer);
}

void
VisitSharding(ParallelPlan& plan, ParameterVisitor& visitor)
{
    visitor.Enum({"dataSharding.state",
                  "State that data-parallel replicas shard: none, optimizer, gradients or full."},
                 plan.sharding.state,
                 {{"none", ShardedState::None},
                  {"optimizer", ShardedState::Optimizer},
                  {"gradients", ShardedState::Gradients},
                  {"full", ShardedState::Full}});
    visitor.Count({"dataSharding.ranks",
                   "Number of neighboring replicas in a sharding group (HSDP if fewer than all); "
                   "0: all replicas."},
                  plan.sharding.ranks,
                  {0, MAX_RANKS});
    visitor.Flag(
        {"dataSharding.reshard", "State full: whether weights are freed after a forward pass."},
        plan.sharding.reshard);
    visitor.Count(
        {"dataSharding.prefetch",
         "State full: number of units whose weights are gathered ahead of the current one."},
        plan.sharding.prefetch,
        {0, MAX_RANKS});
    visitor.Flag({"dataSharding.everyPass",
                  "States gradients and full: whether gradients are reduced after each "
                  "micro-batch; false: after the last one."},
                 plan.sharding.everyPass);
    visitor.Flag({"dataSharding.scatter",
                  "States optimizer and gradients: whether gradients are reduce-scattered; false: "
                  "all-reduced."},
                 plan.sharding.scatter);
    visitor.Flag({"dataSharding.overlapGather",
                  "States optimizer and gradients: whether the all-gather of updated weights "
                  "overlaps the next forward pass."},
                 plan.sharding.overlapGather);
    visitor.Flag(
        {"dataSharding.perParameter",
         "State full: whether tensors are copied between communication buffers and parameters."},
        plan.sharding.perParameter);
}

void
VisitEmbeddings(ParallelPlan& plan, ParameterVisitor& visitor)
{
    constexpr uint32_t MAX_WIDTH = 65536; // of a row
    visitor.Enum(
        {"embeddings.placement", "Sharding of embedding tables: tables (whole), rows or columns."},
        plan.embeddings.placement,
        {{"tables", EmbeddingPlacement::Tables},
         {"rows", EmbeddingPlacement::Rows},
         {"columns", EmbeddingPlacement::Columns}});
    visitor.Enum({"embeddings.balance",
                  "Load measure that balances whole tables over ranks: lookups or size."},
                 plan.embeddings.balance,
                 {{"lookups", EmbeddingBalance::Lookups}, {"size", EmbeddingBalance::Size}});
    visitor.Size({"embeddings.splitAbove", "Size above which a table is split by rows."},
                 plan.embeddings.splitAbove,
                 ANY_SIZE);
    visitor.Size({"embeddings.splitColumnsAbove", "Size above which a table is split by columns."},
                 plan.embeddings.splitColumnsAbove,
                 ANY_SIZE);
    visitor.Count(
        {"embeddings.columnWidth", "Columns per part of a table that is split by columns."},
        plan.embeddings.columnWidth,
        {1, MAX_WIDTH});
    visitor.Enum(
        {"embeddings.optimizer", "Optimizer of embedding rows: sgd, rowwise-adagrad or adagrad."},
        plan.embeddings.optimizer,
        {{"sgd", EmbeddingOptimizer::Sgd},
         {"rowwise-adagrad", EmbeddingOptimizer::RowwiseAdagrad},
         {"adagrad", EmbeddingOptimizer::Adagrad}});
    visitor.Flag({"embeddings.exchangeIndices",
                  "Whether ranks read their own samples and send the indices to the ranks that "
                  "hold the rows; false: each rank reads the indices of its tables."},
                 plan.embeddings.exchangeIndices);
}

void
VisitFramework(ParallelPlan& plan, ParameterVisitor& visitor)
{
    const ParameterRange<Time> LAUNCHES{Time(), Time::Seconds(3600)};
    visitor.Enum(
        {"fusion",
         "Fusion of the operations between GEMMs into kernels: eager, kernels or compiled."},
        plan.fusion,
        {{"eager", KernelFusion::Eager},
         {"kernels", KernelFusion::Kernels},
         {"compiled", KernelFusion::Compiled}});
    visitor.Enum(
        {"loss",
         "Loss kernels: default (chosen by fusion), vocabulary-parallel, log-softmax or in-place."},
        plan.loss,
        {{"default", LossKernels::Default},
         {"vocabulary-parallel", LossKernels::VocabularyParallel},
         {"log-softmax", LossKernels::LogSoftmax},
         {"in-place", LossKernels::InPlace}});
    visitor.Count(
        {"recomputeEvery", "Number of layers of which one is recomputed; 1: every layer is."},
        plan.recomputeEvery,
        {1, MAX_RANKS});
    visitor.Flag({"fp32Gradients", "Whether gradients are accumulated and reduced in 4 bytes."},
                 plan.fp32Gradients);
    visitor.Flag({"postValidation",
                  "Whether stages update their weights and begin the next step before the global "
                  "gradient norm is known."},
                 plan.postValidation);
    visitor.Flag(
        {"fusedUpdate", "Whether one kernel unscales and clips gradients and updates weights."},
        plan.fusedUpdate);
    visitor.Flag({"scatterGatherPipeline",
                  "Whether each tensor rank sends only its part of a stage boundary, which the "
                  "receivers gather."},
                 plan.scatterGatherPipeline);
    visitor.Flag({"embeddingsAsLayers",
                  "Whether word embedding and loss each count as a layer when layers are assigned "
                  "to stages."},
                 plan.embeddingsAsLayers);
    visitor.Duration({"host.kernel", "CPU time to launch a kernel, including framework overhead."},
                     plan.host.kernel,
                     LAUNCHES);
    visitor.Duration({"host.communication",
                      "CPU time to launch a collective or transfer, including framework overhead."},
                     plan.host.communication,
                     LAUNCHES);
    visitor.Flag(
        {"host.syncBatches", "Whether the CPU waits for the GPU before each forward pass."},
        plan.host.syncBatches);
    visitor.Flag(
        {"host.syncTransfers", "Whether the CPU waits until pipeline transfers have ended."},
        plan.host.syncTransfers);
    visitor.Flag(
        {"host.syncPasses",
         "Whether the CPU waits for the GPU before and after each forward and backward pass."},
        plan.host.syncPasses);
    visitor.Flag({"host.syncLayers",
                  "Whether the CPU waits for the GPU before the forward and backward pass of each "
                  "recomputed layer."},
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
