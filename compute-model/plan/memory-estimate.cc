// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/memory-estimate.h"

#include "compute-model/models/precision.h"
#include "compute-model/plan/activation-memory.h"
#include "compute-model/plan/rank-shape.h"
#include "compute-model/plan/shard-units.h"
#include "compute-model/plan/stage-layers.h"
#include "compute-model/plan/table-placement.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace weir
{

namespace
{

/**
 * Bytes of the SUMMA blocks in transit in a rank's largest GEMM: two buffers for each operand or
 * result that moves.
 * @param stage pipeline stage of the rank
 */
Bytes
SummaBuffers(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    if (plan.grid.side < 2)
    {
        return {};
    }
    const RankShape shape(model, plan);

    struct Blocks
    {
        uint64_t moved; //!< columns of the activations
        uint64_t weight;
    };

    std::vector<Blocks> linears{{shape.hidden, shape.hidden * shape.qkv},
                                {shape.query, shape.hidden * shape.query},
                                {shape.hidden, shape.hidden * shape.inner},
                                {shape.ffn, shape.hidden * shape.ffn}};
    const uint64_t words = shape.hidden * shape.vocabulary;
    if (stage == 0)
    {
        linears.push_back({0, words});
    }
    if (stage == plan.pipeline - 1)
    {
        linears.push_back({model.tiedEmbeddings ? shape.vocabulary : shape.hidden, words});
    }
    double max = 0;
    for (const Blocks& linear : linears)
    {
        max = std::max(max,
                       static_cast<double>(shape.tokens) * static_cast<double>(linear.moved) +
                           static_cast<double>(linear.weight));
    }
    return EstimatedBytes(max * 2 * ActivationBytes(plan.precision));
}

/** Parameters of the largest layer of a rank, its routed experts included. */
double
LargestLayer(const RankWeights& dense, const RankWeights& experts)
{
    double largest = 0;
    for (std::size_t unit = 0; unit + 1 < dense.units.size(); unit++)
    {
        largest = std::max(largest, dense.units[unit] + experts.units[unit]);
    }
    return largest;
}

/**
 * Writes the state of one rank under full sharding into @p estimate. The rank's shard holds 32-bit
 * weights, their gradients and Adam's two moments (Rajbhandari et al. 2020, table 1: 16 bytes over
 * N in mixed precision; here without a 16-bit copy of the weights). The following are whole while
 * they are used: the root unit's weights and gradients, the weights of the current layer and of
 * prefetched layers (of all layers without resharding), one layer's gradients and their reduction
 * buffer, and all gradients where passes do not reduce them.
 */
void
WriteShardedState(const Transformer& model, const ParallelPlan& plan, MemoryEstimate& estimate)
{
    const auto [dense, experts] = WeightsOf(model, plan, estimate.stage);
    const double parameters = dense.parameters + experts.parameters;
    const double part = dense.Part() + experts.Part();
    estimate.weights = EstimatedBytes(part * FP32_BYTES);
    estimate.gradients = EstimatedBytes(part * FP32_BYTES);
    estimate.optimizer = EstimatedBytes(part * 2 * FP32_BYTES);

    const double weight = ActivationBytes(plan.precision);
    const double reduced = GradientBytes(plan);
    const double layer = LargestLayer(dense, experts);
    const auto layers = static_cast<double>(dense.units.size() - 1);
    const double root = dense.units.back();
    const double held =
        plan.sharding.reshard ? std::min(layers, 1.0 + plan.sharding.prefetch) : layers;
    const double kept = std::min(held * layer, parameters - root);
    double whole = (root + kept) * weight;
    // The root unit's gradients wait for the embedding's and are reduced after those of all layers.
    whole += root * weight + layer * (weight + reduced);
    // A single pass is also the last one, whose gradients are reduced.
    whole += plan.sharding.everyPass || plan.MicroBatches() == 1 ? 0 : parameters * reduced;
    estimate.gathered = EstimatedBytes(whole);
}

/**
 * Bytes of whole gradients where every pass reduces them and a rank keeps its part (ZeRO-2): the
 * gradients of the largest unit (a layer, or the word embedding) as passes write them, and two
 * buckets, one being filled while the other is reduced (DeepSpeed's overlap_comm). A bucket never
 * splits a tensor, so the embedding's bucket is as large as its gradient. The buckets in total
 * never exceed the gradients of one pass.
 */
Bytes
WholeGradients(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const auto [dense, experts] = WeightsOf(model, plan, stage);
    const double shared = dense.parameters + (experts.replicas > 1 ? experts.parameters : 0);
    const bool hasWords = stage == 0 || stage + 1 == plan.pipeline;
    const double words = hasWords ? RankWordParameters(model, plan) : 0;
    const double largest = std::max(LargestLayer(dense, experts), words);
    const double gradient = GradientBytes(plan);
    const double bucket = plan.bucket.ToDouble();
    const double buckets = std::min(bucket + std::max(bucket, words * gradient), shared * gradient);
    return EstimatedBytes(largest * ActivationBytes(plan.precision) + buckets);
}

// fp32 master weights and Adam's two moments (Rajbhandari et al. 2020, ZeRO, 3.1).
constexpr double OPTIMIZER_BYTES = 12;

// CUDA context and loaded libraries, as nvidia-smi shows them for an idle PyTorch process on A100
// and H100: about 0.5 GiB.
constexpr int64_t CUDA_CONTEXT_MIB = 512;

// PyTorch's default cuBLAS workspace on Hopper (notes/cuda, CUBLAS_WORKSPACE_CONFIG): 32 MiB.
constexpr int64_t CUBLAS_WORKSPACE_MIB = 32;

// NCCL's receive buffers of one channel: LL, LL128 and Simple (src/include/device.h: 8 slots each).
constexpr int64_t NCCL_CHANNEL_BYTES = 524288 + 4915200 + 4194304;

// Channels of a communicator: 24 on an A100 with 12 NVLinks, the maximum over the described
// machines.
constexpr int64_t NCCL_CHANNELS = 24;

Bytes
BuffersOf(const ParallelPlan& plan)
{
    const int64_t ofTensor = plan.HasGrid() ? 2 * (plan.grid.side > 1) : plan.tensor > 1;
    const int64_t communicators = ofTensor + (plan.pipeline > 1) + (plan.DenseReplicas() > 1) +
                                  (plan.context > 1) + (plan.expert > 1);
    return Bytes::MiB(CUDA_CONTEXT_MIB + CUBLAS_WORKSPACE_MIB) +
           Bytes(NCCL_CHANNEL_BYTES) * (NCCL_CHANNELS * communicators);
}

/** Whether an update makes fp32 copies of narrower gradients (Megatron-LM's main_param.grad). */
bool
WidensForUpdate(const ParallelPlan& plan)
{
    return !plan.fp32Gradients && !plan.fusedUpdate && plan.Sharded() != ShardedState::Full &&
           ActivationBytes(plan.precision) < FP32_BYTES;
}

MemoryEstimate
EstimateStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const auto [dense, experts] = WeightsOf(model, plan, stage);
    const double parameters = dense.parameters + experts.parameters;
    const uint32_t weight = ActivationBytes(plan.precision);
    const double optimizer = weight == FP32_BYTES ? OPTIMIZER_BYTES - FP32_BYTES : OPTIMIZER_BYTES;
    MemoryEstimate estimate;
    estimate.stage = stage;
    estimate.weights = EstimatedBytes(parameters * weight);
    // If their reduction is deferred to the last micro-batch, gradients are whole until then.
    const bool sharesGradients = plan.Sharded() >= ShardedState::Gradients &&
                                 (plan.sharding.everyPass || plan.MicroBatches() == 1);
    const double part = dense.Part() + experts.Part();
    estimate.gradients =
        EstimatedBytes((sharesGradients ? part : parameters) * GradientBytes(plan));
    estimate.optimizer = EstimatedBytes(part * optimizer);
    if (plan.Sharded() == ShardedState::Full)
    {
        WriteShardedState(model, plan, estimate);
    }
    else if (KeepsGradientParts(plan))
    {
        estimate.gathered = WholeGradients(model, plan, stage);
    }
    estimate.activations = StageActivations(model, plan, stage);
    estimate.buffers = BuffersOf(plan) + SummaBuffers(model, plan, stage);
    // The update's fp32 gradient copies and the activations are never live at the same time.
    const Bytes widened = EstimatedBytes(WidensForUpdate(plan) ? part * FP32_BYTES : 0);
    estimate.buffers += std::max(Bytes(), widened - estimate.activations);
    return estimate;
}

} // namespace

std::string
InGiB(Bytes bytes)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f GiB", bytes.ToDouble() / Bytes::GiB(1).ToDouble());
    return text;
}

std::string
ToText(const MemoryEstimate& estimate)
{
    return InGiB(estimate.Total()) + " (weights " + InGiB(estimate.weights) +
           (estimate.embeddings > Bytes() ? ", embedding tables " + InGiB(estimate.embeddings)
                                          : "") +
           ", gradients " + InGiB(estimate.gradients) + ", optimizer " + InGiB(estimate.optimizer) +
           ", activations " + InGiB(estimate.activations) + ", gathered " +
           InGiB(estimate.gathered) + ", buffers " + InGiB(estimate.buffers) + ")";
}

MemoryEstimate
EstimateMemory(const Transformer& model, const ParallelPlan& plan)
{
    CheckPlan(model, plan);
    MemoryEstimate fullest = EstimateStage(model, plan, 0);
    for (uint32_t stage = 1; stage < plan.pipeline; stage++)
    {
        const MemoryEstimate estimate = EstimateStage(model, plan, stage);
        if (estimate.Total() > fullest.Total())
        {
            fullest = estimate;
        }
    }
    return fullest;
}

namespace
{

// CUDA context and libraries of an idle PyTorch process, cuDNN workspace (see memory-estimate.cc).
constexpr int64_t CONTEXT_MIB = 1024;

/** Bytes of the rows and optimizer state of @p tables, divided by @p parts. */
double
HeldBytes(const LayerTable& table,
          const std::vector<uint32_t>& tables,
          EmbeddingOptimizer optimizer,
          double parts)
{
    double bytes = 0;
    for (const uint32_t i : tables)
    {
        const EmbeddingTable& one = table.embeddings[i];
        bytes += (TableBytes(one).ToDouble() +
                  static_cast<double>(one.rows) * RowStateBytes(one, optimizer)) /
                 parts;
    }
    return bytes;
}

/** Adds the tables and exchange buffers of the fullest rank to @p estimate. */
void
AddEmbeddings(const LayerTable& whole, const ParallelPlan& plan, MemoryEstimate& estimate)
{
    const LayerTable table = SplitByColumns(whole, plan);
    const TablePlacement placement = AssignTables(table, plan);
    const EmbeddingOptimizer optimizer = plan.embeddings.optimizer;
    const double parts = HeldBytes(table, placement.split, optimizer, plan.data);
    const double samples = static_cast<double>(plan.microBatch) * plan.data;
    const double element = ActivationBytes(plan.precision);
    double max = 0;
    for (const auto& tables : placement.whole)
    {
        const double held = HeldBytes(table, tables, optimizer, 1) + parts;
        const double pooled = static_cast<double>(PooledElements(table, tables) +
                                                  PooledElements(table, placement.split)) *
                              samples * element;
        constexpr double BUFFERS = 2; // pooled rows and their gradients
        if (held + BUFFERS * pooled > max)
        {
            max = held + BUFFERS * pooled;
            estimate.embeddings = EstimatedBytes(held);
            estimate.gathered = plan.data > 1 ? EstimatedBytes(BUFFERS * pooled) : Bytes();
        }
    }
}

} // namespace

DenseOptimizer
DenseOptimizerOf(const LayerTable& table, const ParallelPlan& plan)
{
    // PyTorch's default (foreach): one kernel per operation over lists of tensors. Adam: lerp 3,
    // mul 2, addcmul 3, sqrt 2, div 2, add 2, addcdiv 4. Adagrad: addcmul 3, sqrt 2, add 2, addcdiv
    // 4.
    constexpr DenseOptimizer ADAM{"Adam", 18, 2};
    constexpr DenseOptimizer ADAGRAD{"Adagrad", 11, 1};
    constexpr DenseOptimizer SGD{"gradient descent", 3, 0};
    if (table.embeddings.empty())
    {
        return ADAM;
    }
    return plan.embeddings.optimizer == EmbeddingOptimizer::Sgd ? SGD : ADAGRAD;
}

MemoryEstimate
EstimateTableMemory(const LayerTable& table, const ParallelPlan& plan)
{
    const double parameters = table.Parameters();
    double activations = 0;
    for (const TableLayer& layer : table.layers)
    {
        // torchvision's ReLUs and additions are computed in place.
        const bool isInPlace = layer.op == TableOp::Relu || layer.op == TableOp::Add;
        activations += isInPlace ? 0 : static_cast<double>(layer.out.Elements());
    }
    const double element = ActivationBytes(plan.precision);
    const double gradient = GradientBytes(plan);
    const double masters = element < FP32_BYTES ? 1 : 0; // 32-bit copies of the weights
    MemoryEstimate estimate;
    estimate.weights = EstimatedBytes(parameters * element);
    estimate.gradients = EstimatedBytes(parameters * gradient * (plan.data > 1 ? 2 : 1));
    estimate.optimizer =
        EstimatedBytes(parameters * FP32_BYTES * (DenseOptimizerOf(table, plan).kept + masters));
    estimate.activations = EstimatedBytes(activations * element * plan.microBatch);
    estimate.buffers = Bytes::MiB(CONTEXT_MIB);
    if (!table.embeddings.empty())
    {
        AddEmbeddings(table, plan, estimate);
    }
    return estimate;
}

} // namespace weir
