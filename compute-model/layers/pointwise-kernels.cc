// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/pointwise-kernels.h"

#include "compute-model/models/precision.h"

namespace weir
{

namespace
{

/** Bytes of the sums over a token's columns that its norm needs: of x and x^2, or only of x^2. */
Bytes
NormSums(const Transformer& model, const RankShape& shape)
{
    return Bytes(
        static_cast<int64_t>(shape.normTokens * model.NormVectors() * BytesOf(Precision::Fp32)));
}

/** Operands of an activation that is one kernel. */
struct ActivationOperands
{
    double gelu{0};
    double swiGlu{0};
};

/**
 * Writes an activation that is one kernel, i.e. all but eager SwiGLU.
 * @return whether it was written
 */
bool
WritesAtOnce(SegmentWriter& writer,
             const Transformer& model,
             const std::string& name,
             uint64_t rows,
             uint64_t columns,
             const ActivationOperands& operands)
{
    const double element = ActivationBytes(writer.Plan().precision);
    if (model.activation == ActivationKind::Gelu)
    {
        writer.Memory(name, MemoryKernel::BiasGelu, rows, columns, operands.gelu * element);
        return true;
    }
    if (writer.Plan().fusion == KernelFusion::Eager)
    {
        return false;
    }
    writer.Memory(name, MemoryKernel::SwiGlu, rows, columns, operands.swiGlu * element);
    return true;
}

/**
 * In a tensor grid a row of ranks holds the columns of a token. The sums that a norm takes over the
 * columns, forward or backward, are therefore all-reduced over the row first, in one message of 4
 * bytes per sum.
 * @param reads operands that this requires another pass over
 */
void
WriteNormSums(SegmentWriter& writer,
              const Transformer& model,
              const std::string& name,
              uint32_t reads)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.grid.side < 2)
    {
        return;
    }
    const RankShape shape(model, plan);
    writer.Memory(name + " sums",
                  MemoryKernel::Reduction,
                  shape.normTokens,
                  shape.hidden,
                  static_cast<double>(reads) * ActivationBytes(plan.precision));
    writer.WaitFor(writer.Communicate(
        name + " sums all-reduce", CollectiveOp::AllReduce, NormSums(model, shape)));
}

} // namespace

void
WriteActivation(SegmentWriter& writer,
                const Transformer& model,
                const std::string& name,
                uint64_t rows,
                uint64_t columns)
{
    if (WritesAtOnce(writer, model, name, rows, columns, {2, 3}))
    {
        return;
    }
    const double element = ActivationBytes(writer.Plan().precision);
    writer.Memory(name + ", SiLU", MemoryKernel::Elementwise, rows, columns, 2 * element);
    writer.Memory(name + ", gate", MemoryKernel::Elementwise, rows, columns, 3 * element);
}

void
WriteActivationBackward(SegmentWriter& writer,
                        const Transformer& model,
                        const std::string& name,
                        uint64_t rows,
                        uint64_t columns)
{
    if (WritesAtOnce(writer, model, name, rows, columns, {3, 5}))
    {
        return;
    }
    for (const char* part : {", gated", ", gate", ", SiLU"})
    {
        writer.Memory(name + part,
                      MemoryKernel::Elementwise,
                      rows,
                      columns,
                      3.0 * ActivationBytes(writer.Plan().precision));
    }
}

PointwiseWriter::PointwiseWriter(SegmentWriter& writer, const Transformer& model)
    : m_writer(writer),
      m_model(model),
      m_plan(writer.Plan()),
      m_shape(model, m_plan),
      m_element(ActivationBytes(m_plan.precision))
{
}

void
PointwiseWriter::Norm(const std::string& name)
{
    if (IsEagerRms())
    {
        EagerRmsNorm(name);
        return;
    }
    WriteNormSums(m_writer, m_model, name, 1);
    const bool isLayerNorm = m_model.norm == NormKind::LayerNorm;
    OverHidden(name,
               isLayerNorm ? MemoryKernel::LayerNormForward : MemoryKernel::RmsNormForward,
               2 * m_element);
}

void
PointwiseWriter::NormBackward(const std::string& name, bool addsResidual)
{
    const bool isCompiled = m_plan.fusion == KernelFusion::Compiled;
    if (IsEagerRms())
    {
        EagerRmsNormBackward(name);
    }
    else
    {
        WriteNormSums(m_writer, m_model, name, 2);
        const bool isLayerNorm = m_model.norm == NormKind::LayerNorm;
        OverHidden(name,
                   isLayerNorm ? MemoryKernel::LayerNormBackward : MemoryKernel::RmsNormBackward,
                   (addsResidual && isCompiled ? 4 : 3) * m_element);
    }
    if (addsResidual && !isCompiled)
    {
        OverHidden("residual gradient add", MemoryKernel::Elementwise, 3 * m_element);
    }
    m_writer.GradientsReady(static_cast<double>(m_model.NormVectors() * m_shape.hidden));
}

void
PointwiseWriter::Rotary(const std::string& name)
{
    if (m_model.learnedPositions)
    {
        return;
    }
    const uint64_t columns = m_shape.query + m_shape.kvHeads * m_model.headDim;
    if (m_plan.fusion != KernelFusion::Eager)
    {
        m_writer.Memory(name, MemoryKernel::Rotary, m_shape.tokens, columns, 2 * m_element);
        return;
    }
    m_writer.Memory(
        name + " cast", MemoryKernel::CastToFp32, m_shape.tokens, columns, m_element + FP32_BYTES);
    m_writer.Memory(name, MemoryKernel::Elementwise, m_shape.tokens, columns, 2 * FP32_BYTES);
    m_writer.Memory(name + " cast back",
                    MemoryKernel::Elementwise,
                    m_shape.tokens,
                    columns,
                    FP32_BYTES + m_element);
    if (m_shape.kvHeads < m_shape.heads)
    {
        m_writer.Memory(name + " keys and values repeat",
                        MemoryKernel::Elementwise,
                        m_shape.tokens,
                        2 * m_shape.query,
                        m_element * (1 + static_cast<double>(m_shape.kvHeads) /
                                             static_cast<double>(m_shape.heads)));
    }
}

void
PointwiseWriter::Activation()
{
    WriteActivation(m_writer, m_model, ActivationName(), m_shape.tokens, m_shape.ffn);
}

void
PointwiseWriter::ActivationBackward()
{
    WriteActivationBackward(
        m_writer, m_model, ActivationName() + " backward", m_shape.tokens, m_shape.ffn);
}

void
PointwiseWriter::BiasDropoutAdd(const std::string& name)
{
    if (m_plan.fusion == KernelFusion::Eager)
    {
        if (m_model.dropout)
        {
            OverHidden(name + ", dropout", MemoryKernel::Dropout, 2 * m_element + 1);
        }
        OverHidden(name + ", add", MemoryKernel::Elementwise, 3 * m_element);
        return;
    }
    // With Compiled, the sum stays in registers for the norm that follows.
    const double operands = m_plan.fusion == KernelFusion::Compiled ? 2 : 3;
    OverHidden(
        name, MemoryKernel::BiasDropoutAdd, operands * m_element + (m_model.dropout ? 1 : 0));
}

std::string
PointwiseWriter::ActivationName() const
{
    return m_model.activation == ActivationKind::SwiGlu ? "SwiGLU"
           : m_plan.fusion == KernelFusion::Kernels     ? "bias GeLU"
                                                        : "GeLU";
}

bool
PointwiseWriter::IsEagerRms() const
{
    return m_plan.fusion == KernelFusion::Eager && m_model.norm == NormKind::RmsNorm;
}

void
PointwiseWriter::EagerRmsNorm(const std::string& name)
{
    OverHidden(name + " cast", MemoryKernel::CastToFp32, m_element + FP32_BYTES);
    OverHidden(name + " square", MemoryKernel::Elementwise, 2 * FP32_BYTES);
    OverHidden(name + " mean", MemoryKernel::Reduction, FP32_BYTES);
    SumOverRow(name + " mean all-reduce");
    OverHidden(name + " scale", MemoryKernel::Elementwise, 2 * FP32_BYTES);
    OverHidden(name + " cast back", MemoryKernel::Elementwise, FP32_BYTES + m_element);
    OverHidden(name + " weight", MemoryKernel::Elementwise, 2 * m_element);
}

/**
 * Each multiplication of the forward pass has two gradients, one of them summed over a row or over
 * all.
 */
void
PointwiseWriter::EagerRmsNormBackward(const std::string& name)
{
    OverHidden(name + ", weight", MemoryKernel::Elementwise, 2 * m_element);
    OverHidden(name + ", weight gradient", MemoryKernel::Elementwise, 3 * m_element);
    OverHidden(name + ", weight gradient sum", MemoryKernel::Reduction, m_element);
    OverHidden(name + " cast", MemoryKernel::CastToFp32, m_element + FP32_BYTES);
    OverHidden(name + ", scale", MemoryKernel::Elementwise, 2 * FP32_BYTES);
    OverHidden(name + ", scale gradient", MemoryKernel::Elementwise, 3 * FP32_BYTES);
    OverHidden(name + ", scale gradient sum", MemoryKernel::Reduction, FP32_BYTES);
    SumOverRow(name + ", scale gradient sum all-reduce");
    OverHidden(name + ", square", MemoryKernel::Elementwise, 2 * FP32_BYTES);
    OverHidden(name + ", sum of both", MemoryKernel::Elementwise, 3 * FP32_BYTES);
    OverHidden(name + " cast back", MemoryKernel::Elementwise, FP32_BYTES + m_element);
}

void
PointwiseWriter::SumOverRow(const std::string& name)
{
    if (m_plan.grid.side > 1)
    {
        m_writer.WaitFor(
            m_writer.Communicate(name, CollectiveOp::AllReduce, NormSums(m_model, m_shape)));
    }
}

void
PointwiseWriter::OverHidden(const std::string& name, MemoryKernel kernel, double bytesPerElement)
{
    m_writer.Memory(name, kernel, m_shape.normTokens, m_shape.hidden, bytesPerElement);
}

} // namespace weir
