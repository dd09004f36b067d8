// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/optimizer-program.h"

#include "compute-model/layers/kernel-table.h"
#include "compute-model/models/precision.h"
#include "compute-model/plan/shard-units.h"
#include "compute-model/plan/stage-layers.h"

#include <string>

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
    : m_source(source),
      m_plan(source.plan),
      m_kernels(kernels),
      m_writer(writer),
      m_parameters(RankStageParameters(source.model, source.plan, source.stage)),
      m_experts(RankExpertParameters(source.model, source.plan, source.stage)),
      m_updated(m_parameters / m_plan.ShardRanks() + m_experts / m_plan.ExpertShardRanks()),
      m_packer(m_plan.bucket)
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
    double whole = m_parameters + m_experts;
    if (KeepsGradientParts(m_plan)) // the first pass's part needs no clearing
    {
        whole = m_plan.ExpertReplicas() == 1 ? m_experts : 0;
    }
    if (whole > 0)
    {
        OverParameters("gradient zero", MemoryKernel::Fill, whole, GradientBytes(m_plan));
        FlushKernels("zero gradients");
    }
}

bool
OptimizerWriter::ReducesEveryPass() const
{
    return m_plan.Sharded() == ShardedState::Gradients && m_plan.sharding.everyPass;
}

bool
OptimizerWriter::OnReady(const GradientPiece& piece)
{
    const auto bucket = m_packer.Add(piece);
    if (bucket)
    {
        Reduce(*bucket);
    }
    return bucket.has_value();
}

void
OptimizerWriter::ReduceRest()
{
    for (const GradientBucket& bucket : m_packer.TakeRest())
    {
        Reduce(bucket);
    }
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
    for (const StepDependency& operation : m_early)
    {
        m_writer.Wait(operation);
    }
    m_early.clear();
    for (const GradientBucket& bucket : m_reduced)
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
OptimizerWriter::AddPart(const GradientBucket& bucket)
{
    const double gradient = GradientBytes(m_plan);
    const double part = bucket.bytes.ToDouble() / gradient /
                        (bucket.ofExperts ? m_plan.ExpertShardRanks() : m_plan.ShardRanks());
    const auto [added, isNew] = m_added.try_emplace(part);
    if (isNew)
    {
        OverParameters("gradient shard add", MemoryKernel::Elementwise, part, 3 * gradient);
        added->second = CloseSegment(m_kernels, "gradient shard add");
    }
    m_writer.Append(added->second);
}

void
OptimizerWriter::Reduce(const GradientBucket& bucket)
{
    if ((bucket.ofExperts ? m_plan.ExpertReplicas() : m_plan.DenseReplicas()) == 1)
    {
        return;
    }
    if (KeepsGradientParts(m_plan))
    {
        m_reduced.push_back(bucket);
    }
    const char* label = bucket.ofExperts ? "expert gradient bucket" : "gradient bucket";
    m_early.push_back(m_writer.CommunicateAfter(Reduction(bucket.bytes, label, bucket.ofExperts),
                                                {StreamKind::Compute, bucket.position}));
    if (ScattersInCopies(bucket.ofExperts))
    {
        m_early.push_back(
            m_writer.CommunicateAfter(AmongCopies(bucket.bytes, bucket.ofExperts), m_early.back()));
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
    for (const StepDependency& operation : m_early)
    {
        m_writer.Wait(operation);
    }
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
    FlushKernels("optimizer norm");
    AgreeOnNorm();
    OverParameters(
        "Adam", MemoryKernel::AdamFused, m_updated, ADAM_BYTES - FP32_BYTES + gradient + copy);
    FlushKernels("optimizer update");
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
        FlushKernels("optimizer gradients");
    }
    if (m_plan.precision == Precision::Fp16)
    {
        OverParameters("gradient unscale", MemoryKernel::Elementwise, m_updated, 2 * FP32_BYTES);
        FlushKernels("optimizer unscale");
        AgreeOn("overflow all-reduce");
        m_writer.SynchronizeHost(); // the CPU reads whether a gradient overflowed
    }
    OverParameters("gradient norm", MemoryKernel::GradientNorm, m_updated, FP32_BYTES);
    FlushKernels("optimizer norm");
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
    FlushKernels("optimizer update");
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
        GatherWeights(m_parameters, "weights all-gather", false);
        GatherWeights(m_experts, "expert weights all-gather", true);
    }
}

void
OptimizerWriter::GatherWeights(double parameters, const char* label, bool ofExperts)
{
    const uint32_t replicas = ofExperts ? m_plan.ExpertShardRanks() : m_plan.ShardRanks();
    if (replicas == 1 || parameters == 0)
    {
        return;
    }
    CommunicationRequest gather =
        Reduction(Bytes::Nearest(parameters * ActivationBytes(m_plan.precision)), label, ofExperts);
    gather.collective = CollectiveOp::AllGather;
    gather.slot = ofExperts ? ExpertShardSlot(m_plan) : ShardSlot(m_plan);
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

void
OptimizerWriter::FlushKernels(const char* label)
{
    m_writer.Append(CloseSegment(m_kernels, label));
}

CommunicationRequest
OptimizerWriter::Reduction(Bytes bytes, const char* label, bool ofExperts)
{
    const bool scatters = Scatters(ofExperts);
    const GroupSlot dense = scatters ? ShardSlot(m_plan) : GroupSlot::Data;
    const GroupSlot experts = scatters ? ExpertShardSlot(m_plan) : GroupSlot::ExpertData;
    return {StreamKind::DataComm,
            StepOpKind::Collective,
            scatters ? CollectiveOp::ReduceScatter : CollectiveOp::AllReduce,
            TimeCategory::Data,
            ofExperts ? experts : dense,
            bytes,
            m_kernels.Label(label)};
}

/**
 * Whether each rank receives only its part of the gradients; an expert's sharding group may be one
 * rank.
 */
bool
OptimizerWriter::Scatters(bool ofExperts) const
{
    return m_plan.Sharded() != ShardedState::None && m_plan.sharding.scatter &&
           (!ofExperts || m_plan.ExpertShardRanks() > 1);
}

/** Whether scattered gradients are then summed over the sharding groups. */
bool
OptimizerWriter::ScattersInCopies(bool ofExperts) const
{
    return Scatters(ofExperts) && m_plan.ShardCopies() > 1;
}

/** The sum over sharding groups of one part of gradients of @p bytes in total. */
CommunicationRequest
OptimizerWriter::AmongCopies(Bytes bytes, bool ofExperts)
{
    const uint32_t ranks = ofExperts ? m_plan.ExpertShardRanks() : m_plan.ShardRanks();
    const char* label = ofExperts ? "expert gradient part all-reduce" : "gradient part all-reduce";
    CommunicationRequest request = Reduction(bytes / static_cast<int64_t>(ranks), label, ofExperts);
    request.stream = StreamKind::ReplicaComm;
    request.collective = CollectiveOp::AllReduce;
    request.slot = ofExperts ? GroupSlot::ExpertCopies : GroupSlot::Replicas;
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
    if (m_plan.DenseReplicas() > 1)
    {
        ReduceLate(m_parameters, "gradients", false);
    }
    if (m_experts > 0 && m_plan.ExpertReplicas() > 1)
    {
        ReduceLate(m_experts, "expert gradients", true);
    }
}

void
OptimizerWriter::ReduceLate(double parameters, const char* label, bool ofExperts)
{
    OverParameters(
        "gradient average", MemoryKernel::Elementwise, parameters, 2.0 * GradientBytes(m_plan));
    FlushKernels("average gradients");
    const Bytes bytes = Bytes::Nearest(parameters * GradientBytes(m_plan));
    StepDependency reduced = m_writer.Communicate(Reduction(bytes, label, ofExperts));
    if (ScattersInCopies(ofExperts))
    {
        reduced = m_writer.CommunicateAfter(AmongCopies(bytes, ofExperts), reduced);
    }
    m_writer.Wait(reduced);
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
    CommunicationRequest request =
        Reduction(Bytes::Nearest(words * GradientBytes(m_plan)), "tied embedding gradient");
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
    if (m_experts == 0 || m_plan.expert == 1 ||
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
    CommunicationRequest request = Reduction(Bytes(static_cast<int64_t>(FP32_BYTES)), label);
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
OptimizerWriter::NormMessage(StepOpKind kind, StreamKind stream, GroupSlot slot)
{
    const bool isForward = slot == GroupSlot::SendForward || slot == GroupSlot::ReceiveForward;
    return {stream,
            kind,
            CollectiveOp::Send,
            TimeCategory::Pipeline,
            slot,
            Bytes(STATE_BYTES),
            m_kernels.Label(isForward ? "gradient norm so far" : "whole gradient norm")};
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
        m_writer.Wait(m_writer.CommunicateFreely(
            NormMessage(StepOpKind::Recv, StreamKind::PipelineRecv, GroupSlot::ReceiveForward)));
    }
    if (m_source.stage + 1 < m_plan.pipeline)
    {
        m_writer.Communicate(
            NormMessage(StepOpKind::Send, StreamKind::PipelineSend, GroupSlot::SendForward));
    }
}

/**
 * Begins a step, in which the total of the step before returns. The gradients of backward passes
 * follow on the same streams and therefore wait for it.
 */
void
OptimizerWriter::PassNormBack()
{
    const CommunicationRequest send =
        NormMessage(StepOpKind::Send, StreamKind::PipelineSendBackward, GroupSlot::SendBackward);
    if (m_source.stage + 1 == m_plan.pipeline)
    {
        m_writer.Communicate(send);
        return;
    }
    const StepDependency received = m_writer.CommunicateFreely(NormMessage(
        StepOpKind::Recv, StreamKind::PipelineRecvBackward, GroupSlot::ReceiveBackward));
    if (m_source.stage > 0)
    {
        m_writer.CommunicateAfter(send, received);
    }
}

} // namespace weir
