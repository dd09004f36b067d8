// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/memory-estimate.h"

#include "compute-model/plan/activation-memory.h"
#include "compute-model/plan/sharded-memory.h"
#include "compute-model/plan/stage-parameters.h"
#include "compute-model/plan/summa-buffers.h"

#include <algorithm>
#include <cstdio>

namespace weir
{

namespace
{

// fp32 master weights and Adam's two moments (Rajbhandari et al. 2020, ZeRO, 3.1).
constexpr double OPTIMIZER_BYTES = 12;

// CUDA context and loaded libraries, as nvidia-smi shows them for an idle PyTorch process on A100
// and H100: about 0.5 GiB.
constexpr int64_t CUDA_CONTEXT_MIB = 512;

// PyTorch's default cuBLAS workspace on Hopper (notes/cuda, CUBLAS_WORKSPACE_CONFIG): 32 MiB.
constexpr int64_t CUBLAS_WORKSPACE_MIB = 32;

// NCCL's receive buffers of one channel: LL, LL128 and Simple (src/include/device.h: 8 slots each).
constexpr int64_t NCCL_CHANNEL_BYTES = 524288 + 4915200 + 4194304;

// Channels of a communicator: 24 on an A100 with 12 NVLinks, the most of the machines described.
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

/** Whether an update takes fp32 copies of narrower gradients (Megatron-LM's main_param.grad). */
bool
WidensForUpdate(const ParallelPlan& plan)
{
    return !plan.fp32Gradients && !plan.fusedUpdate && plan.Sharded() != ShardedState::Full &&
           ActivationBytes(plan.precision) < BytesOf(Precision::Fp32);
}

MemoryEstimate
EstimateStage(const Transformer& model, const ParallelPlan& plan, uint32_t stage)
{
    const double dense = RankStageParameters(model, plan, stage);
    const double experts = RankExpertParameters(model, plan, stage);
    const double parameters = dense + experts;
    const uint32_t weight = ActivationBytes(plan.precision);
    const double optimizer = weight == BytesOf(Precision::Fp32)
                                 ? OPTIMIZER_BYTES - BytesOf(Precision::Fp32)
                                 : OPTIMIZER_BYTES;
    MemoryEstimate estimate;
    estimate.stage = stage;
    estimate.weights = Bytes::Nearest(parameters * weight);
    // Put off to the last micro-batch, gradients are whole until then.
    const bool sharesGradients = plan.Sharded() >= ShardedState::Gradients &&
                                 (plan.sharding.everyPass || plan.MicroBatches() == 1);
    const double part = dense / plan.ShardRanks() + experts / plan.ExpertShardRanks();
    const double gradient = plan.fp32Gradients ? BytesOf(Precision::Fp32) : weight;
    estimate.gradients = Bytes::Nearest((sharesGradients ? part : parameters) * gradient);
    estimate.optimizer = Bytes::Nearest(part * optimizer);
    if (plan.Sharded() == ShardedState::Full)
    {
        WriteShardedState(model, plan, estimate);
    }
    estimate.activations = StageActivations(model, plan, stage);
    estimate.buffers = BuffersOf(plan) + SummaBuffers(model, plan, stage);
    // Gradients turned to fp32 for the update are there when activations are not.
    const Bytes widened =
        Bytes::Nearest(WidensForUpdate(plan) ? part * BytesOf(Precision::Fp32) : 0);
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

} // namespace weir
