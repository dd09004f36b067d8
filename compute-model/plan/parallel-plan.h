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

/** @throws std::invalid_argument unless @p holds: "FIELD: found FOUND, expected EXPECTED". */
void RequirePlan(bool holds,
                 const std::string& field,
                 const std::string& found,
                 const std::string& expected);

/** The same with a number. */
void RequirePlan(bool holds, const std::string& field, uint64_t found, const std::string& expected);

/** Placement of the embedding tables of a recommendation model on its ranks. */
enum class EmbeddingPlacement : uint8_t
{
    Tables, //!< each table on one rank (table-wise; Mudigere et al. 2022, arXiv 2104.05158)
    Rows,   //!< each table split by rows over all ranks (row-wise)
    Columns //!< each table split by columns, each part on one rank (column-wise)
};

/**
 * Load measure by which whole tables are assigned: largest first, each to the least loaded rank.
 */
enum class EmbeddingBalance : uint8_t
{
    Lookups, //!< elements looked up per sample: pooling times width
    Size     //!< bytes of the table
};

/** Optimizer of the embedding tables. */
enum class EmbeddingOptimizer : uint8_t
{
    Sgd,            //!< each look-up's gradient is subtracted in place; no state
    RowwiseAdagrad, //!< state of one number per row (FBGEMM's EXACT_ROWWISE_ADAGRAD)
    Adagrad         //!< state of one number per element
};

/** Sharding of embedding tables over the replicas of the dense part, and their optimizer. */
struct EmbeddingSharding
{
    EmbeddingPlacement placement{EmbeddingPlacement::Tables};
    EmbeddingBalance balance{EmbeddingBalance::Lookups};
    Bytes splitAbove{std::numeric_limits<int64_t>::max()}; //!< larger tables are split by rows,
                                                           //!< whatever the placement
    Bytes splitColumnsAbove{
        std::numeric_limits<int64_t>::max()}; //!< larger tables that are not split by rows are
                                              //!< split by columns, whatever the placement
    uint32_t columnWidth{128}; //!< columns of a part (TorchRec's MIN_CW_DIM, planner/constants.py);
                               //!< the last part of a table may be narrower
    EmbeddingOptimizer optimizer{EmbeddingOptimizer::RowwiseAdagrad};
    bool exchangeIndices{true}; //!< each rank reads its own samples and sends their indices to the
                                //!< ranks that hold the rows, one step ahead (TorchRec's pipeline);
                                //!< false: each rank reads the indices of its tables itself
};

struct ParallelPlan;

/**
 * Arrangement of tensor ranks as d layers of q x q ranks instead of one dimension. Every matrix is
 * split into q x q blocks.
 *
 * Weights are split along both dimensions and replicated on every layer of ranks. Activations
 * [tokens, width] are split into d q parts by samples and into q parts by width. One layer is 2-D
 * (SUMMA: van de Geijn and Watts 1997; Optimus); several layers are 2.5-D (Tesseract, arXiv
 * 2105.14500). Tensor rank = column + q * (row + q * layer): the ranks of a row are neighbors.
 */
struct TensorGrid
{
    uint32_t side{0};  //!< q; 0: no grid, but one-dimensional tensor parallelism as in Megatron-LM
    uint32_t depth{1}; //!< d

    uint64_t Ranks() const
    {
        return uint64_t{side} * side * depth;
    }
};

/** State that replicas of one model shard instead of each holding all of it. */
enum class ShardedState : uint8_t
{
    None,
    Optimizer, //!< ZeRO-1: master weights and moments (Rajbhandari et al. 2020, 5.1)
    Gradients, //!< ZeRO-2: also gradients, reduce-scattered in every micro-batch
    Full       //!< ZeRO-3, FSDP: also weights, gathered unit by unit where they are used
};

/**
 * Sharding of a model's state over its replicas. With Full, each layer is a unit, and embedding,
 * final norm and output layer form the root unit (Zhao et al. 2023, PyTorch FSDP, 3.3). A unit's
 * weights are gathered before its forward pass, freed after it and gathered again before its
 * backward pass; the root unit's weights are kept in between.
 */
struct DataSharding
{
    ShardedState state{ShardedState::None};
    uint32_t ranks{0};    //!< neighboring replicas that form one sharding group; several groups are
                          //!< hybrid sharding (Zhao et al. 2023, 3.2.2); 0: all replicas
    bool reshard{true};   //!< Full: weights are freed after a forward pass
    uint32_t prefetch{1}; //!< Full: units whose weights are gathered ahead of the current one
    bool everyPass{true}; //!< Full, Gradients: gradients are reduced after each micro-batch; false:
                          //!< after the last one (no_sync), with whole gradients held until then
    bool scatter{true}; //!< Optimizer, Gradients: each rank receives only its part of the gradients
                        //!< (reduce-scatter); false: all of them (all-reduce)
    bool overlapGather{false}; //!< Optimizer, Gradients: the all-gather of updated weights overlaps
                               //!< the next step's first forward pass (Megatron-LM's
                               //!< --overlap-param-gather); false: it follows the update
    bool perParameter{true}; //!< Full: tensors are copied between collective buffers and parameters
                             //!< (PyTorch's fully_shard); false: they are views of one flat buffer
                             //!< (FullyShardedDataParallel)
};

/** Fusion of the operations between GEMMs into kernels. */
enum class KernelFusion : uint8_t
{
    Eager,   //!< one or more kernels for each PyTorch operation
    Kernels, //!< hand-written or scripted kernels for norm, rotary, activation, bias-dropout-add
             //!< (Megatron-LM, Transformer Engine)
    Compiled //!< torch.compile: as Kernels, with residual additions fused into norms and bias sums
             //!< fused into adjacent kernels; the CPU launches a graph's kernels without PyTorch's
             //!< dispatcher
};

enum class PipelineScheduleKind : uint8_t
{
    OneForwardOneBackward, //!< "1f1b", plain
    Interleaved,           //!< "interleaved": virtualStages > 1 model chunks per stage
    GPipe,                 //!< "gpipe": all forward passes, then all backward passes
    ZeroBubbleH1, //!< "zb-h1": weight gradients deferred, 1F1B's memory and synchronization
    ZeroBubble1p, //!< "zb-1p": weight gradients deferred, passes ordered by their times
    ZeroBubble2p  //!< "zb-2p": as "zb-1p", with the activations of twice as many micro-batches
};

enum class Recomputation : uint8_t
{
    None,
    Selective, //!< the attention core, unfused or fused (Korthikanti et al. 2022)
    Full,      //!< whole layers
    Needed,   //!< whole layers except what follows the last activation that the backward pass reads
              //!< (torch.utils.checkpoint without reentrance stops there)
    Operators //!< all but attention and every second GEMM outside experts (torchtitan's "op")
};

/** Kernels of the attention core. */
enum class AttentionKind : uint8_t
{
    Unfused, //!< QK^T, scale-mask-softmax, dropout, PV as separate kernels (Megatron before 2022)
    Fused    //!< one flash-attention kernel
};

/** Kernels that compute the loss from the logits. */
enum class LossKernels : uint8_t
{
    Default, //!< depends on the plan's KernelFusion: InPlace if Compiled, LogSoftmax if Eager, else
             //!< VocabularyParallel
    VocabularyParallel, //!< Megatron-LM's: softmax of fp32 logits in place, kept for the gradient
    LogSoftmax, //!< torch.nn.functional.cross_entropy on fp32 logits: keeps the log-softmax; its
                //!< gradient and the logits' gradient are separate matrices
    InPlace //!< one kernel per pass on the logits in the GEMM's precision; the gradient overwrites
            //!< them (flash-attn's CrossEntropyLoss, torch.compile)
};

/** Exchange of keys and values between the ranks that share a sequence. */
enum class ContextExchange : uint8_t
{
    Ring, //!< passed around a ring; each transfer overlaps the attention of its step (Liu et al.
          //!< 2023)
    AllGather, //!< gathered before the attention (Llama Team 2024, 3.3.2)
    Pieces //!< gathered while the attention to the rank's own keys runs, then processed piece by
           //!< piece; separate kernels merge the results in 32 bits; gradients are passed around a
           //!< ring (PyTorch 2.5 to 2.7, torch/distributed/tensor/experimental/_attention.py)
};

/** Distribution of tokens over the experts of a layer. */
struct ExpertLoad
{
    double capacityFactor{0}; //!< capacity in multiples of the mean load: excess tokens are
                              //!< dropped, experts are padded up to it; 0: dropless
    double imbalance{1};      //!< load of the busiest expert over the mean load; 1: balanced
    uint64_t seed{1};         //!< determines which experts are busy
    std::vector<double>
        shares; //!< by expert: weights that replace imbalance; empty: imbalance applies

    /** Whether every expert processes the same number of rows. */
    bool IsBalanced() const
    {
        return capacityFactor > 0 || (shares.empty() && imbalance == 1);
    }
};

/**
 * CPU time that a rank spends on issuing work, the framework's own time included.
 *
 * The CPU runs ahead of the GPU until it must wait for it: at the end of a step, where the
 * optimizer reads back the gradient norm, and after pipeline transfers (Megatron-LM's
 * batch_p2p_sync).
 */
struct HostCosts
{
    Time kernel;            //!< for each kernel; close to zero with CUDA graphs
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

/**
 * Host costs of PyTorch's eager mode under Megatron-LM: the default of a run that states none.
 * Generated by eager-host.cmake from frameworks/megatron-lm.yaml.
 */
HostCosts EagerHost();

/**
 * Distribution of one model over ranks. Rank order: tensor innermost, then context, data, pipeline
 * (Megatron's default): rank = tensor + T * (context + C * (data + D * pipeline)).
 *
 * The experts of a layer are distributed over the same T C D ranks of a stage in a different order
 * (MoE Parallel Folding, arXiv 2504.14960, section 3.2): expert tensor ranks innermost, then expert
 * ranks, then replicas.
 */
struct ParallelPlan
{
    uint32_t tensor{1};
    TensorGrid grid; //!< arrangement of the tensor ranks
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
    double attentionSpeed{1}; //!< speed of the fused kernel relative to the calibrated one
    bool overlapTensor{
        true}; //!< kernels that do not need tensor-parallel communication overlap it (Megatron-LM);
               //!< false: all kernels wait for it, and it needs copies (PyTorch's DTensor)
    bool splitGemms{false}; //!< GEMMs are split into as many pieces as there are tensor ranks and
                            //!< overlap the gather of their operand or the scatter of their result
                            //!< by copy engines (Megatron-LM's --tp-comm-overlap)
    bool overlapGradients{true};  //!< data-parallel gradients in buckets, overlapped with backward
    Bytes bucket{Bytes::MiB(40)}; //!< gradient bucket when overlapped, in gradient bytes
    bool distributedOptimizer{false}; //!< ZeRO-1: reduce-scatter gradients, all-gather weights
    bool fp32Gradients{true};         //!< gradients accumulated and reduced in 4 bytes
    bool postValidation{
        false}; //!< a stage updates its weights with the gradient norm of the stages up to it and
                //!< begins its next step at once; the full norm follows (Qi et al. 2023, section 4)
    bool fusedUpdate{false}; //!< one kernel unscales and clips gradients, updates and
                             //!< casts weights (DeepSpeed's fused_adam_legacy)
    bool scatterGatherPipeline{
        true}; //!< send 1/T of the stage boundary per tensor rank and gather (Narayanan et al.
               //!< 2021, 4.1); with sequence parallelism the boundary is already split
    bool embeddingsAsLayers{
        false}; //!< word embedding and loss count as a layer each when layers are assigned to
                //!< stages, so that the first and last stages have one layer fewer
    DataSharding sharding;
    EmbeddingSharding embeddings; //!< of a model with embedding tables
    KernelFusion fusion{KernelFusion::Kernels};
    LossKernels loss{LossKernels::Default};
    uint32_t recomputeEvery{1}; //!< one of so many layers is recomputed
    HostCosts host;

    uint32_t Ranks() const
    {
        return tensor * context * pipeline * data;
    }

    bool HasGrid() const
    {
        return grid.side > 0;
    }

    /** Parts into which a layer's heads and MLP columns, and the vocabulary, are split. */
    uint32_t WidthParts() const
    {
        return HasGrid() ? grid.side : tensor;
    }

    /** Parts into which the hidden width between layers is split. */
    uint32_t HiddenParts() const
    {
        return HasGrid() ? grid.side : 1;
    }

    /** Parts into which the samples of a micro-batch are split. */
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

    /** State that replicas shard; distributedOptimizer is a synonym of ShardedState::Optimizer. */
    ShardedState Sharded() const
    {
        return distributedOptimizer && sharding.state == ShardedState::None
                   ? ShardedState::Optimizer
                   : sharding.state;
    }

    /** Ranks that shard one copy of the state; 1 without sharding. */
    uint32_t ShardRanks() const
    {
        return Sharded() == ShardedState::None ? 1
               : sharding.ranks == 0           ? DenseReplicas()
                                               : sharding.ranks;
    }

    /**
     * Sharding groups, each with its own copy of the sharded state: more than one with hybrid
     * sharding.
     */
    uint32_t ShardCopies() const
    {
        return DenseReplicas() / ShardRanks();
    }

    /**
     * Ranks that shard one copy of their experts' state; there are as many copies as of the dense
     * weights. 1 without sharding.
     */
    uint32_t ExpertShardRanks() const
    {
        return Sharded() == ShardedState::None ? 1 : std::max(1U, ExpertReplicas() / ShardCopies());
    }

    /** Loss kernels, with LossKernels::Default resolved. */
    LossKernels Loss() const
    {
        return loss != LossKernels::Default       ? loss
               : fusion == KernelFusion::Compiled ? LossKernels::InPlace
               : fusion == KernelFusion::Eager    ? LossKernels::LogSoftmax
                                                  : LossKernels::VocabularyParallel;
    }

    /** Whether gradients of weights have passes of their own (zero-bubble schedules). */
    bool SplitsBackward() const
    {
        return schedule == PipelineScheduleKind::ZeroBubbleH1 ||
               schedule == PipelineScheduleKind::ZeroBubble1p ||
               schedule == PipelineScheduleKind::ZeroBubble2p;
    }

    /** Whether layer @p layer is recomputed. */
    bool Recomputes(uint32_t layer) const
    {
        return recomputation != Recomputation::None && layer % recomputeEvery == 0;
    }

    /**
     * Whether each stage begins its next step without waiting for the others; false with a single
     * stage.
     */
    bool OverlapsSteps() const
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
 * Checks that @p plan can run @p model.
 * @throws std::invalid_argument with one line that names the field as the scenario file spells it,
 *         its value and what was expected: tensor divides heads, kvHeads, ffn (and sequence when
 *         sequence parallel); pipeline * virtualStages divides layers; microBatch * data divides
 *         globalBatch; interleaved needs virtualStages > 1 and micro-batches divisible by pipeline;
 *         the requirements of CheckTensorGrid, CheckContext, CheckExperts and CheckSharding.
 */
void CheckPlan(const Transformer& model, const ParallelPlan& plan);

/** Bytes of one accumulated gradient element. */
uint32_t GradientBytes(const ParallelPlan& plan);

/**
 * Whether replicas that shard gradients reduce those of every pass, bucket by bucket, and a rank
 * accumulates only its part, so that no pass leaves whole gradients behind (ZeRO-2; DeepSpeed,
 * runtime/zero/stage_1_and_2.py).
 */
bool KeepsGradientParts(const ParallelPlan& plan);

/** Whether gradients are reduced in buckets that overlap the last backward passes. */
bool OverlapsGradients(const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H
