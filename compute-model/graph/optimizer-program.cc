// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/optimizer-program.h"

#include "compute-model/plan/stage-parameters.h"

#include <cmath>

namespace weir
{

namespace
{

constexpr double FP32 = 4; // bytes

// Adam reads gradient, weight and both moments and writes weight and moments, all in fp32
// (apex csrc/multi_tensor_adam.cu).
constexpr double ADAM_BYTES = 7 * FP32;

/** Columns of the matrix that a buffer is described as; only its area matters. */
constexpr uint64_t BUFFER_COLUMNS = 1024;

} // namespace

uint32_t
GradientBytes(const ParallelPlan& plan)
{
    return plan.fp32Gradients ? BytesOf(Precision::Fp32) : ActivationBytes(plan.precision);
}

OptimizerWriter::OptimizerWriter(const StageSource& source,
                                 KernelTable& kernels,
                                 ProgramWriter& writer)
    : m_source(source),
      m_plan(source.plan),
      m_kernels(kernels),
      m_writer(writer),
      m_parameters(RankStageParameters(source.model, source.plan, source.stage)),
      m_updated(m_plan.distributedOptimizer ? m_parameters / m_plan.data : m_parameters)
{
}

void
OptimizerWriter::ZeroGradients()
{
    OverParameters("gradient zero", MemoryKernel::Fill, m_parameters, GradientBytes(m_plan));
    FlushKernels("zero gradients");
}

bool
OptimizerWriter::OverlapsGradients() const
{
    return m_plan.overlapGradients && m_plan.data > 1;
}

void
OptimizerWriter::ReduceEarly(const std::vector<GradientPiece>& pieces)
{
    for (const GradientBucket& bucket : PackGradients(pieces, m_plan.bucket))
    {
        m_early.push_back(
            m_writer.CommunicateAfter(Reduction(bucket.bytes, "gradient bucket"), bucket.position));
    }
}

void
OptimizerWriter::ReduceGradients()
{
    ReduceWholeParameters();
    ReduceLate();
    for (const StepDependency& operation : m_early)
    {
        m_writer.Wait(operation);
    }
    ReduceTiedEmbedding();
}

void
OptimizerWriter::Update()
{
    const uint32_t weightBytes = ActivationBytes(m_plan.precision);
    if (m_plan.precision == Precision::Fp16)
    {
        OverParameters("gradient unscale", MemoryKernel::Elementwise, m_updated, 2 * FP32);
        FlushKernels("optimizer unscale");
        AgreeOn("overflow all-reduce");
        m_writer.SynchronizeHost(); // the CPU reads whether a gradient overflowed
    }
    OverParameters("gradient norm", MemoryKernel::GradientNorm, m_updated, FP32);
    FlushKernels("optimizer norm");
    AgreeOn("gradient norm all-reduce");
    m_writer.SynchronizeHost(); // the CPU reads the norm
    // --clip-grad 1.0, Megatron-LM's default: the norm exceeds it while training is young.
    OverParameters("gradient clip", MemoryKernel::Elementwise, m_updated, 2 * FP32);
    OverParameters("Adam", MemoryKernel::AdamFused, m_updated, ADAM_BYTES);
    if (weightBytes < FP32)
    {
        OverParameters("weight cast", MemoryKernel::Elementwise, m_updated, FP32 + weightBytes);
    }
    FlushKernels("optimizer update");
    if (m_plan.distributedOptimizer && m_plan.data > 1)
    {
        CommunicationRequest gather =
            Reduction(Bytes::Nearest(m_parameters * weightBytes), "weights all-gather");
        gather.collective = CollectiveOp::AllGather;
        m_writer.Wait(m_writer.Communicate(gather));
    }
}

void
OptimizerWriter::OverParameters(const char* name,
                                MemoryKernel kernel,
                                double parameters,
                                double bytesPerParameter)
{
    const auto rows =
        static_cast<uint64_t>(std::ceil(parameters / static_cast<double>(BUFFER_COLUMNS)));
    m_kernels.Memory(name, kernel, rows, BUFFER_COLUMNS, bytesPerParameter, 0);
}

void
OptimizerWriter::FlushKernels(const char* label)
{
    Segment segment;
    segment.label = m_kernels.Label(label);
    segment.kernels = m_kernels.Close();
    m_writer.Append({segment});
}

CommunicationRequest
OptimizerWriter::Reduction(Bytes bytes, const char* label)
{
    CommunicationRequest request;
    request.stream = StreamKind::DataComm;
    request.collective =
        m_plan.distributedOptimizer ? CollectiveOp::ReduceScatter : CollectiveOp::AllReduce;
    request.category = TimeCategory::Data;
    request.slot = GroupSlot::Data;
    request.bytes = bytes;
    request.label = m_kernels.Label(label);
    return request;
}

/**
 * With sequence parallelism each tensor rank has seen only its tokens in norms, row biases and
 * positions, whose gradients are therefore summed over the tensor ranks.
 */
void
OptimizerWriter::ReduceWholeParameters()
{
    if (!m_plan.sequenceParallel || m_plan.tensor == 1)
    {
        return;
    }
    const double whole = WholeStageParameters(m_source.model, m_plan, m_source.stage);
    CommunicationRequest request;
    request.bytes = Bytes::Nearest(whole * GradientBytes(m_plan));
    request.label = m_kernels.Label("norm gradients all-reduce");
    m_writer.Wait(m_writer.Communicate(request));
}

void
OptimizerWriter::ReduceLate()
{
    if (m_plan.data == 1 || OverlapsGradients())
    {
        return;
    }
    OverParameters(
        "gradient average", MemoryKernel::Elementwise, m_parameters, 2.0 * GradientBytes(m_plan));
    FlushKernels("average gradients");
    const Bytes bytes = Bytes::Nearest(m_parameters * GradientBytes(m_plan));
    m_writer.Wait(m_writer.Communicate(Reduction(bytes, "gradients")));
}

void
OptimizerWriter::ReduceTiedEmbedding()
{
    const bool isEnd = m_source.stage == 0 || m_source.stage == m_plan.pipeline - 1;
    if (!m_source.model.tiedEmbeddings || m_plan.pipeline == 1 || !isEnd)
    {
        return;
    }
    const double words = RankWordParameters(m_source.model, m_plan);
    CommunicationRequest request =
        Reduction(Bytes::Nearest(words * GradientBytes(m_plan)), "tied embedding gradient");
    request.collective = CollectiveOp::AllReduce;
    request.category = TimeCategory::Pipeline;
    request.slot = GroupSlot::Embedding;
    m_writer.Wait(m_writer.Communicate(request));
}

/** A single number that all ranks of the optimizer group must agree on. */
void
OptimizerWriter::AgreeOn(const char* label)
{
    const uint32_t ranks =
        m_plan.tensor * m_plan.pipeline * (m_plan.distributedOptimizer ? m_plan.data : 1);
    if (ranks == 1)
    {
        return;
    }
    CommunicationRequest request = Reduction(Bytes(static_cast<int64_t>(FP32)), label);
    request.collective = CollectiveOp::AllReduce;
    request.slot = GroupSlot::Optimizer;
    m_writer.Wait(m_writer.Communicate(request));
}

} // namespace weir
