// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/optimizer-program.h"

#include "compute-model/layers/kernel-table.h"
#include "compute-model/models/precision.h"
#include "compute-model/plan/stage-layers.h"

namespace weir
{
namespace
{

// The squared norm and the count of non-finite values, in fp32.
constexpr int64_t STATE_BYTES = 8;

// Adam reads gradient, weight and both moments and writes weight and moments, all in fp32
// (apex csrc/multi_tensor_adam.cu).
constexpr double ADAM_BYTES = 7 * FP32_BYTES;

} // namespace

OptimizerWriter::OptimizerWriter(const StageSource& source,
                                 KernelTable& kernels,
                                 ProgramWriter& writer)
    : GradientBuckets(source.plan.bucket),
      m_source(source),
      m_plan(source.plan),
      m_kernels(kernels),
      m_writer(writer),
      m_weights(WeightsOf(source.model, m_plan, source.stage)),
      m_updated(m_dense.Part() + m_experts.Part())
{
}

void
OptimizerWriter::ZeroGradients()
{
    if (m_plan.OverlapsSteps())
    {
        PassNormBack();
    }
    if (m_plan.Sharded() == ShardedState::Full)
    {
        return; // gradients of units are freed after their reduction
    }
    double whole = m_dense.parameters + m_experts.parameters;
    if (KeepsGradientParts(m_plan)) // the first pass's part needs no clearing
    {
        whole = m_experts.replicas == 1 ? m_experts.parameters : 0;
    }
    if (whole > 0)
    {
        OverParameters("gradient zero", MemoryKernel::Fill, whole, GradientBytes(m_plan));
        m_writer.AppendKernels("zero gradients");
    }
}

bool
OptimizerWriter::ReducesEveryPass() const
{
    return m_plan.Sharded() == ShardedState::Gradients && m_plan.sharding.everyPass;
}

void
OptimizerWriter::EndPass(bool isFirst)
{
    if (!KeepsGradientParts(m_plan) || m_plan.MicroBatches() == 1)
    {
        return;
    }
    // independent_gradient_partition_epilogue of DeepSpeed's stage_1_and_2.py: the streams are
    // synchronized, then averaged_gradients are set or added to.
    m_writer.WaitForAll(m_early);
    for (const Gradients& bucket : m_reduced)
    {
        if (!isFirst)
        {
            AddPart(bucket);
        }
    }
    m_reduced.clear();
}

/** Reads the reduced part and the part accumulated so far, and writes the latter. */
void
OptimizerWriter::AddPart(const Gradients& bucket)
{
    const double gradient = GradientBytes(m_plan);
    const double part = bucket.bytes.ToDouble() / gradient / m_weights[bucket.ofExperts].shardRanks;
    const auto [added, isNew] = m_added.try_emplace(part);
    if (isNew)
    {
        OverParameters("gradient shard add", MemoryKernel::Elementwise, part, 3 * gradient);
        added->second = CloseSegment(m_kernels, "gradient shard add");
    }
    m_writer.Append(added->second);
}

void
OptimizerWriter::Reduce(const Gradients& bucket)
{
    const RankWeights& weights = m_weights[bucket.ofExperts];
    if (weights.replicas == 1)
    {
        return;
    }
    if (KeepsGradientParts(m_plan))
    {
        m_reduced.push_back(bucket);
    }
    m_early.push_back(m_writer.CommunicateAfter(Reduction(weights, bucket.bytes, "gradient bucket"),
                                                {StreamKind::Compute, bucket.position}));
    if (ScattersInCopies(weights))
    {
        m_early.push_back(
            m_writer.CommunicateAfter(AmongCopies(weights, bucket.bytes), m_early.back()));
    }
}

void
OptimizerWriter::ReduceGradients()
{
    const bool arePartsLeft = m_plan.Sharded() >= ShardedState::Gradients;
    if (!arePartsLeft)
    {
        ReduceWholeParameters();
    }
    ReduceLate();
    m_writer.WaitForAll(m_early);
    if (arePartsLeft)
    {
        ReduceWholeParameters(); // of the parts that remain after the replicas' reduction
    }
    ReduceTiedEmbedding();
}

/** Those of @p parameters whose gradients a rank keeps after the reduction over replicas. */
double
OptimizerWriter::KeptAfterReduction(double parameters) const
{
    return m_plan.Sharded() >= ShardedState::Gradients ? parameters / m_plan.ShardRanks()
                                                       : parameters;
}

/**
 * DeepSpeed's fused_adam_legacy: the norm of the gradients in their own precision, then one kernel
 * that reads gradient, weight and both moments, and writes weight, both moments and the weight's
 * copy.
 */
void
OptimizerWriter::UpdateFused()
{
    const double gradient = GradientBytes(m_plan);
    const double copy = m_plan.precision == Precision::Fp32 ? 0 : ActivationBytes(m_plan.precision);
    OverParameters("gradient norm", MemoryKernel::GradientNorm, m_updated, gradient);
    m_writer.AppendKernels("optimizer norm");
    AgreeOnNorm();
    OverParameters(
        "Adam", MemoryKernel::AdamFused, m_updated, ADAM_BYTES - FP32_BYTES + gradient + copy);
    m_writer.AppendKernels("optimizer update");
}

void
OptimizerWriter::UpdateUnfused()
{
    const uint32_t weightBytes = ActivationBytes(m_plan.precision);
    const double gradient = GradientBytes(m_plan);
    if (gradient < FP32_BYTES && m_plan.Sharded() != ShardedState::Full)
    {
        // main_param.grad = model_param.main_grad.float() (megatron/core/optimizer)
        OverParameters(
            "gradients to fp32", MemoryKernel::Elementwise, m_updated, gradient + FP32_BYTES);
        m_writer.AppendKernels("optimizer gradients");
    }
    if (m_plan.precision == Precision::Fp16)
    {
        OverParameters("gradient unscale", MemoryKernel::Elementwise, m_updated, 2 * FP32_BYTES);
        m_writer.AppendKernels("optimizer unscale");
        AgreeOn("overflow all-reduce");
        m_writer.SynchronizeHost(); // the CPU reads whether a gradient overflowed
    }
    OverParameters("gradient norm", MemoryKernel::GradientNorm, m_updated, FP32_BYTES);
    m_writer.AppendKernels("optimizer norm");
    AgreeOnNorm();
    if (!m_plan.OverlapsSteps()) // otherwise a norm above the limit is detected later
    {
        // --clip-grad 1.0, Megatron-LM's default: the norm exceeds it early in training.
        OverParameters("gradient clip", MemoryKernel::Elementwise, m_updated, 2 * FP32_BYTES);
    }
    OverParameters("Adam", MemoryKernel::AdamFused, m_updated, ADAM_BYTES);
    if (weightBytes < FP32_BYTES && m_plan.Sharded() != ShardedState::Full)
    {
        OverParameters(
            "weight cast", MemoryKernel::Elementwise, m_updated, FP32_BYTES + weightBytes);
    }
    m_writer.AppendKernels("optimizer update");
}

void
OptimizerWriter::Update()
{
    if (m_plan.fusedUpdate)
    {
        UpdateFused();
    }
    else
    {
        UpdateUnfused();
    }
    const bool isWhole = m_plan.Sharded() == ShardedState::None;
    if (!isWhole && m_plan.Sharded() != ShardedState::Full && !m_plan.sharding.overlapGather)
    {
        GatherWeights(m_dense);
        GatherWeights(m_experts);
    }
}

void
OptimizerWriter::GatherWeights(const RankWeights& weights)
{
    if (weights.shardRanks == 1 || weights.parameters == 0)
    {
        return;
    }
    CommunicationRequest gather =
        Reduction(weights,
                  Bytes::Nearest(weights.parameters * ActivationBytes(m_plan.precision)),
                  "weights all-gather");
    gather.collective = CollectiveOp::AllGather;
    gather.slot = weights.shardSlot;
    m_writer.Wait(m_writer.Communicate(gather));
}

void
OptimizerWriter::OverParameters(const char* name,
                                MemoryKernel kernel,
                                double parameters,
                                double bytesPerParameter)
{
    WriteBufferKernel(m_kernels, name, kernel, parameters, bytesPerParameter);
}

/** @param label that of dense weights */
CommunicationRequest
OptimizerWriter::Reduction(const RankWeights& weights, Bytes bytes, const std::string& label)
{
    const bool scatters = Scatters(weights);
    return DataRequest(scatters ? CollectiveOp::ReduceScatter : CollectiveOp::AllReduce,
                       scatters ? weights.shardSlot : weights.replicaSlot,
                       bytes,
                       m_kernels.Label((weights.ofExperts ? "expert " : "") + label));
}

/**
 * Whether each rank receives only its part of the gradients; an expert's sharding group may be one
 * rank.
 */
bool
OptimizerWriter::Scatters(const RankWeights& weights) const
{
    return m_plan.Sharded() != ShardedState::None && m_plan.sharding.scatter &&
           (!weights.ofExperts || weights.shardRanks > 1);
}

/** Whether scattered gradients are then summed over the sharding groups. */
bool
OptimizerWriter::ScattersInCopies(const RankWeights& weights) const
{
    return Scatters(weights) && m_plan.ShardCopies() > 1;
}

/** The sum over sharding groups of one part of gradients of @p bytes in total. */
CommunicationRequest
OptimizerWriter::AmongCopies(const RankWeights& weights, Bytes bytes)
{
    CommunicationRequest request = Reduction(
        weights, bytes / static_cast<int64_t>(weights.shardRanks), "gradient part all-reduce");
    request.stream = StreamKind::ReplicaComm;
    request.collective = CollectiveOp::AllReduce;
    request.slot = weights.copiesSlot;
    return request;
}

/**
 * With sequence parallelism each tensor rank has processed only its tokens in norms, row-parallel
 * biases and positions, so that their gradients are summed over the tensor ranks. In a grid the
 * same holds for the ranks of a column, and for all biases.
 */
void
OptimizerWriter::ReduceWholeParameters()
{
    const bool isSplit = m_plan.sequenceParallel ? m_plan.tensor > 1 : m_plan.grid.side > 1;
    if (!isSplit)
    {
        return;
    }
    const double whole = WholeStageParameters(m_source.model, m_plan, m_source.stage);
    CommunicationRequest request;
    if (m_plan.HasGrid())
    {
        request.slot = GroupSlot::TensorColumn;
        request.stream = StreamKind::TensorColumnComm;
    }
    request.bytes = Bytes::Nearest(KeptAfterReduction(whole) * GradientBytes(m_plan));
    request.label = m_kernels.Label("norm gradients all-reduce");
    m_writer.Wait(m_writer.Communicate(request));
}

void
OptimizerWriter::ReduceLate()
{
    if (OverlapsGradients(m_plan) || m_plan.Sharded() == ShardedState::Full)
    {
        return;
    }
    const double gradient = GradientBytes(m_plan);
    for (const RankWeights& weights : m_weights)
    {
        if (weights.parameters == 0 || weights.replicas == 1)
        {
            continue;
        }
        OverParameters(
            "gradient average", MemoryKernel::Elementwise, weights.parameters, 2 * gradient);
        m_writer.AppendKernels("average gradients");
        const Bytes bytes = Bytes::Nearest(weights.parameters * gradient);
        StepDependency reduced = m_writer.Communicate(Reduction(weights, bytes, "gradients"));
        if (ScattersInCopies(weights))
        {
            reduced = m_writer.CommunicateAfter(AmongCopies(weights, bytes), reduced);
        }
        m_writer.Wait(reduced);
    }
}

void
OptimizerWriter::ReduceTiedEmbedding()
{
    const bool isEnd = m_source.stage == 0 || m_source.stage == m_plan.pipeline - 1;
    if (!m_source.model.tiedEmbeddings || m_plan.pipeline == 1 || !isEnd)
    {
        return;
    }
    const double words = KeptAfterReduction(RankWordParameters(m_source.model, m_plan));
    CommunicationRequest request = Reduction(
        m_dense, Bytes::Nearest(words * GradientBytes(m_plan)), "tied embedding gradient");
    request.collective = CollectiveOp::AllReduce;
    request.category = TimeCategory::Pipeline;
    request.slot = GroupSlot::Embedding;
    m_writer.Wait(m_writer.Communicate(request));
}

/**
 * Sums over the expert ranks first, if experts span more ranks of the stage than the optimizer
 * group.
 */
void
OptimizerWriter::SumOverExperts(const char* label)
{
    const uint32_t expertRanks = m_plan.expert * m_plan.ExpertTensor();
    if (m_experts.parameters == 0 || m_plan.expert == 1 ||
        expertRanks <= m_plan.WeightRanks() * m_plan.ShardRanks())
    {
        return;
    }
    CommunicationRequest request;
    request.category = TimeCategory::Expert;
    request.slot = GroupSlot::Expert;
    request.bytes = Bytes(static_cast<int64_t>(FP32_BYTES));
    request.label = m_kernels.Label(std::string("experts ") + label);
    m_writer.Wait(m_writer.Communicate(request));
}

/** Agreement of all ranks of the optimizer group on a single number. */
void
OptimizerWriter::AgreeOn(const char* label)
{
    SumOverExperts(label);
    const bool joinsStages = m_plan.pipeline > 1 && !m_plan.OverlapsSteps();
    const uint32_t ranks =
        m_plan.WeightRanks() * m_plan.ShardRanks() * (joinsStages ? m_plan.pipeline : 1);
    if (ranks == 1)
    {
        return;
    }
    CommunicationRequest request =
        Reduction(m_dense, Bytes(static_cast<int64_t>(FP32_BYTES)), label);
    request.collective = CollectiveOp::AllReduce;
    request.slot = GroupSlot::Optimizer;
    if (m_plan.ShardRanks() == 1) // within one replica
    {
        request.category = joinsStages ? TimeCategory::Pipeline : TimeCategory::Tensor;
    }
    m_writer.Wait(m_writer.Communicate(request));
}

/**
 * All stages agree on the norm, or each stage uses that of the stages up to it. The CPU then reads
 * the norm.
 */
void
OptimizerWriter::AgreeOnNorm()
{
    AgreeOn("gradient norm all-reduce");
    if (m_plan.OverlapsSteps())
    {
        PassNormOn();
    }
    m_writer.SynchronizeHost();
}

CommunicationRequest
OptimizerWriter::NormMessage(const StageTransfer& transfer)
{
    const bool isForward =
        transfer.slot == GroupSlot::SendForward || transfer.slot == GroupSlot::ReceiveForward;
    return transfer.Request(
        Bytes(STATE_BYTES),
        m_kernels.Label(isForward ? "gradient norm so far" : "whole gradient norm"));
}

/**
 * Sends a stage's complete sum to the next stage. The stages of a pipeline exchange the gradient
 * norm without a wait for all of them (Qi et al. 2023, arXiv 2401.10241, section 4): before its
 * update a stage receives the sum of the stages before it, adds its own and sends it on. While the
 * next step warms up, the total returns from the last stage to the first, and each stage validates
 * its update with it. The model assumes that validation always succeeds, so that nothing is rolled
 * back, and that the norm is below the clipping limit.
 */
void
OptimizerWriter::PassNormOn()
{
    if (m_source.stage > 0)
    {
        m_writer.Wait(m_writer.CommunicateFreely(NormMessage(RECEIVE_FORWARD)));
    }
    if (m_source.stage + 1 < m_plan.pipeline)
    {
        m_writer.Communicate(NormMessage(SEND_FORWARD));
    }
}

/**
 * Begins a step, in which the total of the step before returns. The gradients of backward passes
 * follow on the same streams and therefore wait for it.
 */
void
OptimizerWriter::PassNormBack()
{
    const CommunicationRequest send = NormMessage(SEND_BACKWARD);
    if (m_source.stage + 1 == m_plan.pipeline)
    {
        m_writer.Communicate(send);
        return;
    }
    const StepDependency received = m_writer.CommunicateFreely(NormMessage(RECEIVE_BACKWARD));
    if (m_source.stage > 0)
    {
        m_writer.CommunicateAfter(send, received);
    }
}

} // namespace weir
