// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H
#define WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H

#include "compute-model/models/transformer.h"
#include "fabric/units.h"

#include <cstdint>
#include <string>

namespace weir
{

enum class PipelineScheduleKind : uint8_t
{
    OneForwardOneBackward, //!< "1f1b", plain
    Interleaved            //!< "interleaved": virtualStages > 1 model chunks per stage
};

enum class Recomputation : uint8_t
{
    None,
    Selective, //!< the attention core only (Korthikanti et al. 2022)
    Full       //!< whole layers
};

/** Numeric format of weights and activations in forward and backward. */
enum class Precision : uint8_t
{
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8
};

uint32_t BytesOf(Precision precision);

/** How the unfused or fused attention core is computed. */
enum class AttentionKind : uint8_t
{
    Unfused, //!< QK^T, scale-mask-softmax, dropout, PV as separate kernels (Megatron before 2022)
    Fused    //!< one flash-attention kernel
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
};

/** PyTorch's eager mode under Megatron-LM: what a run has that says nothing of it. */
HostCosts EagerHost();

/**
 * How one model is spread over ranks. Rank order: tensor innermost, then data, then pipeline
 * (Megatron's default): rank = tensor + T * (data + D * pipeline).
 */
struct ParallelPlan
{
    uint32_t tensor{1};
    uint32_t pipeline{1};
    uint32_t data{1};
    bool sequenceParallel{false};
    PipelineScheduleKind schedule{PipelineScheduleKind::OneForwardOneBackward};
    uint32_t virtualStages{1}; //!< model chunks per stage, > 1 only when interleaved
    uint32_t microBatch{1};    //!< samples of one micro-batch
    uint32_t globalBatch{1};   //!< samples of one step over all data-parallel replicas
    Recomputation recomputation{Recomputation::None};
    Precision precision{Precision::Bf16};
    AttentionKind attention{AttentionKind::Fused};
    bool overlapGradients{true};  //!< data-parallel gradients in buckets, overlapped with backward
    Bytes bucket{Bytes::MiB(40)}; //!< gradient bucket when overlapped, in gradient bytes
    bool distributedOptimizer{false}; //!< ZeRO-1: reduce-scatter gradients, all-gather weights
    bool fp32Gradients{true};         //!< gradients accumulated and reduced in 4 bytes
    bool scatterGatherPipeline{
        true}; //!< send 1/T of the stage boundary per tensor rank and gather (Narayanan et al.
               //!< 2021, 4.1); with sequence parallelism the boundary is already split
    bool embeddingsAsLayers{false}; //!< word embedding and loss count as a layer each when layers
                                    //!< are dealt to stages, so that the end stages have one fewer
    HostCosts host;

    uint32_t Ranks() const
    {
        return tensor * pipeline * data;
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
 *         globalBatch; interleaved needs virtualStages > 1 and micro-batches divisible by pipeline.
 */
void CheckPlan(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_PARALLEL_PLAN_H
