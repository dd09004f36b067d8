// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H
#define WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H

#include "compute-model/models/precision.h"
#include "compute-model/models/transformer.h"
#include "fabric/units.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace weir
{

/** @throws std::invalid_argument always: "FIELD: found FOUND, expected EXPECTED". */
[[noreturn]] void RefusePlan(const std::string& field,
                             const std::string& found,
                             const std::string& expected);

/** Similarly, with a number. */
[[noreturn]] void RefusePlan(const std::string& field, uint64_t found, const std::string& expected);

/** @throws std::invalid_argument unless the field's @p divisor divides @p value, which is @p what.
 */
void RequireDivides(const char* field, uint64_t divisor, const std::string& what, uint64_t value);

/** How the embedding tables of a recommendation model lie on its ranks. */
enum class EmbeddingPlacement : uint8_t
{
    Tables, //!< each table on one rank (Mudigere et al. 2022, arXiv 2104.05158, table-wise)
    Rows,   //!< each table on all ranks, every rank a part of its rows (row-wise)
    Columns //!< each table in parts of some columns, each part on one rank (column-wise)
};

/** What whole tables are distributed by, largest first, each to the rank that has least so far. */
enum class EmbeddingBalance : uint8_t
{
    Lookups, //!< elements looked up per sample: pooling times width
    Size     //!< bytes of the table
};

/** Which update the look-ups' gradients lead to. */
enum class EmbeddingOptimizer : uint8_t
{
    Sgd,            //!< subtracted where they fall, nothing else kept
    RowwiseAdagrad, //!< one number kept per row (FBGEMM's EXACT_ROWWISE_ADAGRAD)
    Adagrad         //!< one number kept per element
};

/** How embedding tables are spread over replicas of the dense part, and updated. */
struct EmbeddingSharding
{
    EmbeddingPlacement placement{EmbeddingPlacement::Tables};
    EmbeddingBalance balance{EmbeddingBalance::Lookups};
    Bytes splitAbove{std::numeric_limits<int64_t>::max()}; //!< larger tables go by rows whatever
                                                           //!< the placement
    Bytes splitColumnsAbove{std::numeric_limits<int64_t>::max()}; //!< larger tables go by columns
                                                                  //!< whatever the placement, but
                                                                  //!< those that go by rows
    uint32_t columnWidth{128}; //!< of a part (TorchRec's MIN_CW_DIM, planner/constants.py); the
                               //!< last one of a table can be narrower
    EmbeddingOptimizer optimizer{EmbeddingOptimizer::RowwiseAdagrad};
    bool exchangeIndices{true}; //!< each rank reads its own samples and sends their indices to
                                //!< where the rows are, one step ahead (TorchRec's pipeline); else
                                //!< each rank reads the indices of its tables itself
};

struct ParallelPlan;

/**
 * Tensor ranks as d layers of q x q, instead of in one row: every matrix is cut into q x q blocks.
 *
 * Weights are cut by both of their sides, and every layer of ranks holds all of them. Activations
 * [tokens, width] are cut into d q parts by their samples and into q by their width. One layer is
 * 2-D (SUMMA: van de Geijn and Watts 1997; Optimus), several are 2.5-D (Tesseract, arXiv
 * 2105.14500). Tensor rank = column + q * (row + q * layer): a row's ranks are neighbors.
 */
struct TensorGrid
{
    uint32_t side{0};  //!< q; 0: no grid, ranks in one row share a layer out as Megatron-LM has it
    uint32_t depth{1}; //!< d

    uint64_t Ranks() const
    {
        return uint64_t{side} * side * depth;
    }
};

/**
 * What a plan with a grid asks: q * q * d = tensor; q divides hidden, heads, kvHeads and ffn; q * d
 * divides microBatch, as attention needs whole samples; nothing that is not written for grids.
 * @throws std::invalid_argument as CheckPlan.
 */
void CheckTensorGrid(const Transformer& model, const ParallelPlan& plan);

/** What replicas of one model distribute among them instead of each holding all of it. */
enum class ShardedState : uint8_t
{
    None,
    Optimizer, //!< ZeRO-1: master weights and moments (Rajbhandari et al. 2020, 5.1)
    Gradients, //!< ZeRO-2: ... and gradients, reduce-scattered in every micro-batch
    Full       //!< ZeRO-3, FSDP: ... and weights, gathered unit by unit where they are used
};

/**
 * How replicas share a model's state out. With Full the model's layers are one unit each and
 * embedding, final norm and output layer together are the root unit (Zhao et al. 2023, PyTorch
 * FSDP, 3.3): a unit's weights are gathered before its forward pass, given up after it and gathered
 * again before its backward pass; the root unit's are kept in between.
 */
struct DataSharding
{
    ShardedState state{ShardedState::None};
    uint32_t ranks{0};    //!< neighboring replicas that hold one copy together; more than one such
                          //!< group is hybrid sharding (Zhao et al. 2023, 3.2.2); 0: all of them
    bool reshard{true};   //!< Full: weights are given up after a forward pass
    uint32_t prefetch{1}; //!< Full: units whose weights are gathered ahead of the one at work
    bool everyPass{true}; //!< Full, Gradients: gradients are reduced after each micro-batch, else
                          //!< after the last one (no_sync), whole gradients being held until then
    bool scatter{true};   //!< Optimizer, Gradients: each rank gets its part of the gradients only
                          //!< (reduce-scatter), else all of them (all-reduce)
    bool overlapGather{false}; //!< Optimizer, Gradients: updated weights are gathered beside the
                               //!< next step's first forward pass (Megatron-LM's
                               //!< --overlap-param-gather), else behind the update
    bool perParameter{true};   //!< Full: tensors are copied between collective buffers and
                               //!< parameters (PyTorch's fully_shard); else they are views of one
                               //!< flat buffer (FullyShardedDataParallel)
};

/** How many kernels the operations between matrix products take. */
enum class KernelFusion : uint8_t
{
    Eager,   //!< one kernel or more for each PyTorch operation
    Kernels, //!< hand-written or scripted kernels for norm, rotary, activation, bias-dropout-add
             //!< (Megatron-LM, Transformer Engine)
    Compiled //!< torch.compile: as Kernels, residual additions inside norms, sums of biases inside
             //!< their neighbors; the CPU launches a graph's kernels without PyTorch's dispatcher
};

enum class PipelineScheduleKind : uint8_t
{
    OneForwardOneBackward, //!< "1f1b", plain
    Interleaved,           //!< "interleaved": virtualStages > 1 model chunks per stage
    GPipe,                 //!< "gpipe": all forward passes, then all backward passes
    ZeroBubbleH1,          //!< "zb-h1": weight gradients put off, 1F1B's memory and synchronization
    ZeroBubble1p,          //!< "zb-1p": ... scheduled by their times
    ZeroBubble2p           //!< "zb-2p": ... with the activations of twice as many micro-batches
};

enum class Recomputation : uint8_t
{
    None,
    Selective, //!< the attention core, unfused or fused (Korthikanti et al. 2022)
    Full,      //!< whole layers
    Needed,    //!< whole layers but what follows the last activation that the backward pass reads
               //!< (torch.utils.checkpoint without reentrance stops there)
    Operators  //!< all but attention and every other product outside experts (torchtitan's "op")
};

/** How the unfused or fused attention core is computed. */
enum class AttentionKind : uint8_t
{
    Unfused, //!< QK^T, scale-mask-softmax, dropout, PV as separate kernels (Megatron before 2022)
    Fused    //!< one flash-attention kernel
};

/** How the loss is computed from the logits. */
enum class LossKernels : uint8_t
{
    Default,            //!< as the plan's KernelFusion: InPlace where it is Compiled, LogSoftmax
                        //!< where it is Eager, else VocabularyParallel
    VocabularyParallel, //!< Megatron-LM's: softmax of fp32 logits in place, kept for the gradient
    LogSoftmax, //!< torch.nn.functional.cross_entropy on fp32 logits: log-softmax is kept, and its
                //!< gradient and the logits' are matrices of their own
    InPlace     //!< one kernel each way on the logits as the product gives them, which their
                //!< gradient overwrites (flash-attn's CrossEntropyLoss, torch.compile)
};

/** How the ranks that share a sequence see each other's keys and values. */
enum class ContextExchange : uint8_t
{
    Ring,      //!< passed round step by step beside the attention of the step (Liu et al. 2023)
    AllGather, //!< gathered before the attention (Llama Team 2024, 3.3.2)
    Pieces //!< gathered beside the attention to the rank's own, then met piece by piece, sums in
           //!< 32 bits by kernels of their own, gradients passed round (PyTorch 2.5 to 2.7,
           //!< torch/distributed/tensor/experimental/_attention.py)
};

/** How many tokens each expert of a layer gets. */
struct ExpertLoad
{
    double capacityFactor{0}; //!< tokens over it are dropped, experts padded up to it; 0: dropless
    double imbalance{1};      //!< of the busiest expert over the mean; 1: all alike
    uint64_t seed{1};         //!< which experts are busy
    std::vector<double> shares; //!< by expert: weights given instead; empty: imbalance says

    /** Whether every expert gets as many. */
    bool IsBalanced() const
    {
        return capacityFactor > 0 || (shares.empty() && imbalance == 1);
    }
};

/**
 * What the CPU of a rank spends on issuing work, the framework's own time included.
 *
 * The CPU runs ahead of the GPU until it must wait for it: at a step's end, where the optimizer
 * reads back the gradient norm, and after pipeline transfers (Megatron-LM's batch_p2p_sync).
 */
struct HostCosts
{
    Time kernel;            //!< for each kernel; next to nothing with CUDA graphs
    Time communication;     //!< for each collective or transfer
    bool syncBatches{true}; //!< the CPU waits before each forward pass (Megatron-LM broadcasts the
                            //!< batch's sizes in its tensor group and reads them back)
    bool syncTransfers{true}; //!< the CPU waits until pipeline transfers have ended
    bool syncPasses{false}; //!< the CPU waits before and after each forward and backward pass (the
                            //!< timers of Megatron-LM before version 3: megatron/global_vars.py,
                            //!< _Timer calls torch.cuda.synchronize)
    bool syncLayers{false}; //!< the CPU waits before each recomputed layer's forward and backward
                            //!< pass (Megatron-DeepSpeed's --synchronize-each-layer)
};

/** PyTorch's eager mode under Megatron-LM: what a run has that says nothing of it. Written by
 * eager-host.cmake from frameworks/megatron-lm.yaml. */
HostCosts EagerHost();

/**
 * How one model is spread over ranks. Rank order: tensor innermost, then context, data, pipeline
 * (Megatron's default): rank = tensor + T * (context + C * (data + D * pipeline)).
 *
 * The experts of a layer are spread over the same T C D ranks of a stage in an order of their own
 * (MoE Parallel Folding, arXiv 2504.14960, section 3.2): expert tensor ranks innermost, then expert
 * ranks; what is left holds replicas.
 */
struct ParallelPlan
{
    uint32_t tensor{1};
    TensorGrid grid; //!< how tensor ranks share a layer out
    uint32_t pipeline{1};
    uint32_t data{1};
    uint32_t context{1}; //!< ranks that share a sequence
    ContextExchange contextExchange{ContextExchange::Ring};
    uint32_t expert{1};       //!< ranks that share a layer's experts
    uint32_t expertTensor{0}; //!< ranks that share an expert; 0: as many as tensor
    ExpertLoad expertLoad;
    bool sequenceParallel{false};
    PipelineScheduleKind schedule{PipelineScheduleKind::OneForwardOneBackward};
    uint32_t virtualStages{1}; //!< model chunks per stage, > 1 only when interleaved
    uint32_t microBatch{1};    //!< samples of one micro-batch
    uint32_t globalBatch{1};   //!< samples of one step over all data-parallel replicas
    Recomputation recomputation{Recomputation::None};
    Precision precision{Precision::Bf16};
    AttentionKind attention{AttentionKind::Fused};
    double attentionSpeed{1}; //!< of the fused kernel over the one that the GPU's figures are of
    bool overlapTensor{
        true}; //!< kernels that need no tensor-parallel communication run beside it
               //!< (Megatron-LM); false: all wait for it, and it copies (PyTorch's DTensor)
    bool splitGemms{false}; //!< products go in as many pieces as there are tensor ranks, beside
                            //!< the gather of their operand or the scattering of their result
                            //!< by copy engines (Megatron-LM's --tp-comm-overlap)
    bool overlapGradients{true};  //!< data-parallel gradients in buckets, overlapped with backward
    Bytes bucket{Bytes::MiB(40)}; //!< gradient bucket when overlapped, in gradient bytes
    bool distributedOptimizer{false}; //!< ZeRO-1: reduce-scatter gradients, all-gather weights
    bool fp32Gradients{true};         //!< gradients accumulated and reduced in 4 bytes
    bool postValidation{false};       //!< a stage updates its weights by the gradient norm of the
                                      //!< stages up to it and begins its next step at once; the
                                      //!< whole norm follows (Qi et al. 2023, section 4)
    bool fusedUpdate{false};          //!< one kernel unscales and clips gradients, updates and
                                      //!< casts weights (DeepSpeed's fused_adam_legacy)
    bool scatterGatherPipeline{
        true}; //!< send 1/T of the stage boundary per tensor rank and gather (Narayanan et al.
               //!< 2021, 4.1); with sequence parallelism the boundary is already split
    bool embeddingsAsLayers{
        false}; //!< word embedding and loss count as a layer each when layers
                //!< are assigned to stages, so that the end stages have one fewer
    DataSharding sharding;
    EmbeddingSharding embeddings; //!< of a model with embedding tables
    KernelFusion fusion{KernelFusion::Kernels};
    LossKernels loss{LossKernels::Default};
    uint32_t recomputeEvery{1}; //!< of so many layers one is recomputed
    HostCosts host;

    uint32_t Ranks() const
    {
        return tensor * context * pipeline * data;
    }

    bool HasGrid() const
    {
        return grid.side > 0;
    }

    /** Parts of what a layer has inside: heads, columns of the MLP; and of the vocabulary. */
    uint32_t WidthParts() const
    {
        return HasGrid() ? grid.side : tensor;
    }

    /** Parts of the hidden width between layers. */
    uint32_t HiddenParts() const
    {
        return HasGrid() ? grid.side : 1;
    }

    /** Parts of a micro-batch, by samples. */
    uint32_t SampleParts() const
    {
        return HasGrid() ? grid.side * grid.depth : 1;
    }

    /** Tensor ranks that share one copy of a layer's weights. */
    uint32_t WeightRanks() const
    {
        return tensor / grid.depth;
    }

    /** Tensor groups of one pipeline stage. */
    uint32_t TensorGroups() const
    {
        return data * context;
    }

    /**
     * Ranks that hold the same dense weights: replicas times the parts of a sequence times the
     * layers of a tensor grid.
     */
    uint32_t DenseReplicas() const
    {
        return TensorGroups() * grid.depth;
    }

    uint32_t ExpertTensor() const
    {
        return expertTensor == 0 ? tensor : expertTensor;
    }

    /** Ranks that hold the same experts. */
    uint32_t ExpertReplicas() const
    {
        return tensor * context * data / (ExpertTensor() * expert);
    }

    /** What replicas shard; distributedOptimizer is another word for Optimizer. */
    ShardedState Sharded() const
    {
        return distributedOptimizer && sharding.state == ShardedState::None
                   ? ShardedState::Optimizer
                   : sharding.state;
    }

    /** Ranks that share one copy of the sharded state out; 1 without sharding. */
    uint32_t ShardRanks() const
    {
        return Sharded() == ShardedState::None ? 1
               : sharding.ranks == 0           ? DenseReplicas()
                                               : sharding.ranks;
    }

    /** Groups that hold a copy of the sharded state each: more than one with hybrid sharding. */
    uint32_t ShardCopies() const
    {
        return DenseReplicas() / ShardRanks();
    }

    /** Ranks that share one copy of their experts' state out: there are as many copies as of the
     * dense weights'. 1 without sharding. */
    uint32_t ExpertShardRanks() const
    {
        return Sharded() == ShardedState::None ? 1 : std::max(1U, ExpertReplicas() / ShardCopies());
    }

    /** What computes the loss, in no other words. */
    LossKernels Loss() const
    {
        return loss != LossKernels::Default       ? loss
               : fusion == KernelFusion::Compiled ? LossKernels::InPlace
               : fusion == KernelFusion::Eager    ? LossKernels::LogSoftmax
                                                  : LossKernels::VocabularyParallel;
    }

    /** Whether gradients of weights have passes of their own. */
    bool SplitsBackward() const
    {
        return schedule == PipelineScheduleKind::ZeroBubbleH1 ||
               schedule == PipelineScheduleKind::ZeroBubble1p ||
               schedule == PipelineScheduleKind::ZeroBubble2p;
    }

    /** Whether layer @p layer is among those that are recomputed. */
    bool Recomputes(uint32_t layer) const
    {
        return recomputation != Recomputation::None && layer % recomputeEvery == 0;
    }

    /** Whether stages begin their steps by themselves; with one stage there is nothing to wait for.
     */
    bool StartsStepsApart() const
    {
        return postValidation && pipeline > 1;
    }

    /** Micro-batches per pipeline and step. */
    uint32_t MicroBatches() const
    {
        return globalBatch / (microBatch * data);
    }
};

/**
 * Checks that @p plan can run @p model at all.
 * @throws std::invalid_argument with one line that names the field as the scenario file spells it,
 *         its value and what was expected: tensor divides heads, kvHeads, ffn (and sequence when
 *         sequence parallel); pipeline * virtualStages divides layers; microBatch * data divides
 *         globalBatch; interleaved needs virtualStages > 1 and micro-batches divisible by pipeline;
 *         what CheckTensorGrid, CheckContext and CheckExperts ask.
 */
void CheckPlan(const Transformer& model, const ParallelPlan& plan);

/** Bytes of one accumulated gradient. */
uint32_t GradientBytes(const ParallelPlan& plan);

/**
 * Whether replicas that share gradients reduce those of every pass, bucket by bucket, and a rank
 * adds up its part only (ZeRO-2; DeepSpeed, runtime/zero/stage_1_and_2.py): no pass leaves whole
 * gradients behind.
 */
bool KeepsGradientParts(const ParallelPlan& plan);

/** Whether gradients are reduced in buckets beside the last backward passes. */
bool OverlapsGradients(const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H
