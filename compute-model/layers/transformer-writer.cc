// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/transformer-writer.h"

#include "compute-model/models/precision.h"

namespace weir
{

TransformerWriter::TransformerWriter(KernelTable& kernels,
                                     const Transformer& model,
                                     const ParallelPlan& plan)
    : SegmentWriter(kernels, plan),
      m_model(model),
      m_shape(model, plan)
{
}

LinearShape
TransformerWriter::Linear(const char* name,
                          uint64_t in,
                          uint64_t out,
                          GatheredOperand gathered) const
{
    const double inputs = static_cast<double>(in) + (m_model.biases ? 1 : 0);
    const double parameters = inputs * static_cast<double>(out);
    return {name, m_shape.tokens, in, out, parameters, false, gathered, m_shape.boundary};
}

void
TransformerWriter::Norm(const std::string& name)
{
    if (IsEagerRms())
    {
        EagerRmsNorm(name);
        return;
    }
    NormSums(name, 1);
    const bool isLayerNorm = m_model.norm == NormKind::LayerNorm;
    Memory(name,
           isLayerNorm ? MemoryKernel::LayerNormForward : MemoryKernel::RmsNormForward,
           Hidden(),
           2 * ElementBytes());
}

void
TransformerWriter::NormBackward(const std::string& name, bool addsResidual)
{
    const bool isCompiled = Plan().fusion == KernelFusion::Compiled;
    if (IsEagerRms())
    {
        EagerRmsNormBackward(name);
    }
    else
    {
        NormSums(name, 2);
        const bool isLayerNorm = m_model.norm == NormKind::LayerNorm;
        Memory(name,
               isLayerNorm ? MemoryKernel::LayerNormBackward : MemoryKernel::RmsNormBackward,
               Hidden(),
               (addsResidual && isCompiled ? 4 : 3) * ElementBytes());
    }
    if (addsResidual && !isCompiled)
    {
        Elementwise("residual gradient add", Hidden(), 3);
    }
    GradientsReady(static_cast<double>(m_model.NormVectors() * m_shape.hidden));
}

void
TransformerWriter::Rotary(const std::string& name)
{
    if (m_model.learnedPositions)
    {
        return;
    }
    const MatrixSize size{m_shape.tokens, m_shape.query + m_shape.kvHeads * m_model.headDim};
    if (Plan().fusion != KernelFusion::Eager)
    {
        Memory(name, MemoryKernel::Rotary, size, 2 * ElementBytes());
        return;
    }
    const double castBytes = ElementBytes() + FP32_BYTES;
    Memory(name + " cast", MemoryKernel::CastToFp32, size, castBytes);
    Memory(name, MemoryKernel::Elementwise, size, 2 * FP32_BYTES);
    Memory(name + " cast back", MemoryKernel::Elementwise, size, castBytes);
    if (m_shape.kvHeads < m_shape.heads)
    {
        Elementwise(name + " keys and values repeat",
                    {m_shape.tokens, 2 * m_shape.query},
                    1 + static_cast<double>(m_shape.kvHeads) / static_cast<double>(m_shape.heads));
    }
}

void
TransformerWriter::Activation(const std::string& name, const MatrixSize& size, bool isBackward)
{
    const std::string own = name + (isBackward ? " backward" : "");
    if (m_model.activation == ActivationKind::Gelu)
    {
        Memory(own, MemoryKernel::BiasGelu, size, (isBackward ? 3 : 2) * ElementBytes());
    }
    else if (Plan().fusion != KernelFusion::Eager)
    {
        Memory(own, MemoryKernel::SwiGlu, size, (isBackward ? 5 : 3) * ElementBytes());
    }
    else if (isBackward)
    {
        for (const char* part : {", gated", ", gate", ", SiLU"})
        {
            Elementwise(own + part, size, 3);
        }
    }
    else
    {
        Elementwise(own + ", SiLU", size, 2);
        Elementwise(own + ", gate", size, 3);
    }
}

std::string
TransformerWriter::ActivationName() const
{
    return m_model.activation == ActivationKind::SwiGlu ? "SwiGLU"
           : Plan().fusion == KernelFusion::Kernels     ? "bias GeLU"
                                                        : "GeLU";
}

void
TransformerWriter::BiasDropoutAdd(const std::string& name)
{
    if (Plan().fusion == KernelFusion::Eager)
    {
        if (m_model.dropout)
        {
            Memory(name + ", dropout", MemoryKernel::Dropout, Hidden(), 2 * ElementBytes() + 1);
        }
        Elementwise(name + ", add", Hidden(), 3);
        return;
    }
    // With Compiled, the sum stays in registers for the norm that follows.
    const double operands = Plan().fusion == KernelFusion::Compiled ? 2 : 3;
    Memory(name,
           MemoryKernel::BiasDropoutAdd,
           Hidden(),
           operands * ElementBytes() + (m_model.dropout ? 1 : 0));
}

void
TransformerWriter::SumBias(const std::string& name, const MatrixSize& size)
{
    if (m_model.biases && Plan().fusion != KernelFusion::Compiled)
    {
        Elementwise(name, size, 1);
    }
}

void
TransformerWriter::MlpForward(const MlpShape& mlp)
{
    WriteLinearForward(*this, mlp.fc1, WriteGather(*this, mlp.fc1));
    Activation(mlp.activation, {mlp.fc1.rows, mlp.fc2.in}, false);
    WriteRowParallelForward(*this, mlp.fc2);
}

void
TransformerWriter::MlpBackward(const MlpShape& mlp, bool defersWeightGradients)
{
    WriteInputGradient(*this, mlp.fc2, WriteGather(*this, mlp.fc2));
    if (!defersWeightGradients)
    {
        WriteWeightGradient(*this, mlp.fc2);
    }
    Activation(mlp.activation, {mlp.fc1.rows, mlp.fc2.in}, true);
    if (!mlp.isShared)
    {
        SumBias("FC1 bias gradient", {mlp.fc1.rows, mlp.fc1.out});
    }
    WriteColumnParallelBackward(*this, mlp.fc1, defersWeightGradients);
}

void
TransformerWriter::MlpWeights(const MlpShape& mlp)
{
    WriteDeferredWeightGradient(*this, mlp.fc2);
    WriteDeferredWeightGradient(*this, mlp.fc1);
}

bool
TransformerWriter::IsEagerRms() const
{
    return Plan().fusion == KernelFusion::Eager && m_model.norm == NormKind::RmsNorm;
}

void
TransformerWriter::EagerRmsNorm(const std::string& name)
{
    const double element = ElementBytes();
    Memory(name + " cast", MemoryKernel::CastToFp32, Hidden(), element + FP32_BYTES);
    Memory(name + " square", MemoryKernel::Elementwise, Hidden(), 2 * FP32_BYTES);
    Memory(name + " mean", MemoryKernel::Reduction, Hidden(), FP32_BYTES);
    SumOverRow(name + " mean");
    Memory(name + " scale", MemoryKernel::Elementwise, Hidden(), 2 * FP32_BYTES);
    Memory(name + " cast back", MemoryKernel::Elementwise, Hidden(), FP32_BYTES + element);
    Elementwise(name + " weight", Hidden(), 2);
}

/**
 * Each multiplication of the forward pass has two gradients, one of them summed over a row or over
 * all.
 */
void
TransformerWriter::EagerRmsNormBackward(const std::string& name)
{
    const double element = ElementBytes();
    Elementwise(name + ", weight", Hidden(), 2);
    Elementwise(name + ", weight gradient", Hidden(), 3);
    Memory(name + ", weight gradient sum", MemoryKernel::Reduction, Hidden(), element);
    Memory(name + " cast", MemoryKernel::CastToFp32, Hidden(), element + FP32_BYTES);
    Memory(name + ", scale", MemoryKernel::Elementwise, Hidden(), 2 * FP32_BYTES);
    Memory(name + ", scale gradient", MemoryKernel::Elementwise, Hidden(), 3 * FP32_BYTES);
    Memory(name + ", scale gradient sum", MemoryKernel::Reduction, Hidden(), FP32_BYTES);
    SumOverRow(name + ", scale gradient sum");
    Memory(name + ", square", MemoryKernel::Elementwise, Hidden(), 2 * FP32_BYTES);
    Memory(name + ", sum of both", MemoryKernel::Elementwise, Hidden(), 3 * FP32_BYTES);
    Memory(name + " cast back", MemoryKernel::Elementwise, Hidden(), FP32_BYTES + element);
}

/** The sums that a norm takes over the columns. @param reads operands that they read */
void
TransformerWriter::NormSums(const std::string& name, uint32_t reads)
{
    if (Plan().grid.side > 1)
    {
        Memory(name + " sums", MemoryKernel::Reduction, Hidden(), reads * ElementBytes());
    }
    SumOverRow(name + " sums");
}

/**
 * In a tensor grid a row of ranks holds the columns of a token. The sums that a norm takes over the
 * columns, forward or backward, are therefore all-reduced over the row, in one message of 4 bytes
 * per sum: those of x and x^2, or only of x^2.
 */
void
TransformerWriter::SumOverRow(const std::string& name)
{
    if (Plan().grid.side > 1)
    {
        const uint64_t bytes =
            m_shape.normTokens * m_model.NormVectors() * BytesOf(Precision::Fp32);
        WaitFor(Communicate(
            name + " all-reduce", CollectiveOp::AllReduce, Bytes(static_cast<int64_t>(bytes))));
    }
}

} // namespace weir
