// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/layer-kernels.h"

#include "compute-model/layers/attention-kernels.h"
#include "compute-model/layers/linear-kernels.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

/** Writes one layer's kernels; each method is one line of the layer's code. */
class LayerWriter
{
  public:
    LayerWriter(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
        : m_model(model),
          m_plan(plan),
          m_shape(model, plan),
          m_element(ActivationBytes(plan.precision)),
          m_writer(kernels, plan)
    {
        const double bias = model.biases ? 1 : 0;
        const auto linear = [&](const char* name, uint64_t in, uint64_t out, uint64_t biasSize) {
            const double weights = static_cast<double>(in) * static_cast<double>(out);
            return LinearShape{
                name, m_shape.tokens, in, out, weights + bias * static_cast<double>(biasSize)};
        };
        m_qkv = linear("QKV", m_shape.hidden, m_shape.qkv, m_shape.qkv);
        m_projection = linear("projection", m_shape.query, m_shape.hidden, m_shape.hidden);
        m_fc1 = linear("FC1", m_shape.hidden, m_shape.inner, m_shape.inner);
        m_fc2 = linear("FC2", m_shape.ffn, m_shape.hidden, m_shape.hidden);
    }

    SegmentSequence Forward(const std::string& name)
    {
        m_writer.Section(name + " attention");
        Norm("input norm");
        GatherSequence("QKV input all-gather");
        WriteLinearForward(m_writer, m_qkv, m_plan);
        AddBias("QKV bias", m_shape.qkv);
        RotaryEmbedding("rotary");
        WriteAttentionForward(m_writer, m_model, m_plan);
        WriteLinearForward(m_writer, m_projection, m_plan);
        m_writer.WaitFor(Reduce("projection output"));
        m_writer.Section(name + " MLP");
        BiasDropoutAdd("attention bias dropout add");
        Norm("MLP norm");
        GatherSequence("FC1 input all-gather");
        WriteLinearForward(m_writer, m_fc1, m_plan);
        Activation();
        WriteLinearForward(m_writer, m_fc2, m_plan);
        m_writer.WaitFor(Reduce("FC2 output"));
        BiasDropoutAdd("MLP bias dropout add");
        return m_writer.Take();
    }

    SegmentSequence Backward()
    {
        m_writer.Section("backward MLP");
        BiasDropoutAddBackward("MLP bias dropout add backward");
        GatherSequence("FC2 output gradient all-gather");
        WriteInputGradient(m_writer, m_fc2, m_plan);
        WriteWeightGradient(m_writer, m_fc2, m_plan);
        ActivationBackward();
        WriteColumnParallelBackward(m_writer, m_fc1, m_plan, m_shape.boundary);
        NormBackward("MLP norm backward");
        m_writer.Section("backward attention");
        BiasDropoutAddBackward("attention bias dropout add backward");
        GatherSequence("projection output gradient all-gather");
        WriteInputGradient(m_writer, m_projection, m_plan);
        WriteWeightGradient(m_writer, m_projection, m_plan);
        RecomputeAttention();
        WriteAttentionBackward(m_writer, m_model, m_plan);
        RotaryEmbedding("rotary backward");
        SumBias("QKV bias gradient", m_shape.tokens, m_shape.qkv);
        WriteColumnParallelBackward(m_writer, m_qkv, m_plan, m_shape.boundary);
        NormBackward("input norm backward");
        return m_writer.Take();
    }

  private:
    bool IsLayerNorm() const
    {
        return m_model.norm == NormKind::LayerNorm;
    }

    void Elementwise(const std::string& name, uint64_t rows, uint64_t columns, double operands)
    {
        m_writer.Memory(name, MemoryKernel::Elementwise, rows, columns, operands * m_element);
    }

    void Norm(const std::string& name)
    {
        m_writer.Memory(name,
                        IsLayerNorm() ? MemoryKernel::LayerNormForward
                                      : MemoryKernel::RmsNormForward,
                        m_shape.normTokens,
                        m_shape.hidden,
                        2 * m_element);
    }

    /** Norm, then its input's gradient added to the residual's. */
    void NormBackward(const std::string& name)
    {
        m_writer.Memory(name,
                        IsLayerNorm() ? MemoryKernel::LayerNormBackward
                                      : MemoryKernel::RmsNormBackward,
                        m_shape.normTokens,
                        m_shape.hidden,
                        3 * m_element);
        m_writer.GradientsReady(static_cast<double>((IsLayerNorm() ? 2 : 1) * m_shape.hidden));
        Elementwise("residual gradient add", m_shape.normTokens, m_shape.hidden, 3);
    }

    void BiasDropoutAdd(const std::string& name)
    {
        m_writer.Memory(name,
                        MemoryKernel::BiasDropoutAdd,
                        m_shape.normTokens,
                        m_shape.hidden,
                        3 * m_element + (m_model.dropout ? 1 : 0));
    }

    void BiasDropoutAddBackward(const std::string& name)
    {
        if (m_model.dropout)
        {
            m_writer.Memory(
                name, MemoryKernel::Dropout, m_shape.normTokens, m_shape.hidden, 2 * m_element + 1);
        }
        SumBias("bias gradient", m_shape.normTokens, m_shape.hidden);
    }

    void AddBias(const std::string& name, uint64_t columns)
    {
        if (m_model.biases)
        {
            Elementwise(name, m_shape.tokens, columns, 2);
        }
    }

    void SumBias(const std::string& name, uint64_t rows, uint64_t columns)
    {
        if (m_model.biases)
        {
            Elementwise(name, rows, columns, 1);
        }
    }

    void RotaryEmbedding(const std::string& name)
    {
        if (!m_model.learnedPositions)
        {
            m_writer.Memory(name,
                            MemoryKernel::Rotary,
                            m_shape.tokens,
                            m_shape.query + m_shape.kvHeads * m_model.headDim,
                            2 * m_element);
        }
    }

    void Activation()
    {
        if (m_model.activation == ActivationKind::SwiGlu)
        {
            m_writer.Memory(
                "SwiGLU", MemoryKernel::SwiGlu, m_shape.tokens, m_shape.ffn, 3 * m_element);
        }
        else
        {
            m_writer.Memory(
                "bias GeLU", MemoryKernel::BiasGelu, m_shape.tokens, m_shape.ffn, 2 * m_element);
        }
    }

    void ActivationBackward()
    {
        if (m_model.activation == ActivationKind::SwiGlu)
        {
            m_writer.Memory("SwiGLU backward",
                            MemoryKernel::SwiGlu,
                            m_shape.tokens,
                            m_shape.ffn,
                            5 * m_element);
        }
        else
        {
            m_writer.Memory("bias GeLU backward",
                            MemoryKernel::BiasGelu,
                            m_shape.tokens,
                            m_shape.ffn,
                            3 * m_element);
        }
        SumBias("FC1 bias gradient", m_shape.tokens, m_shape.inner);
    }

    void RecomputeAttention()
    {
        if (m_plan.recomputation == Recomputation::Selective &&
            m_plan.attention == AttentionKind::Unfused)
        {
            WriteAttentionForward(m_writer, m_model, m_plan);
        }
    }

    /** With sequence parallelism the rows of all tensor ranks are needed from here on. */
    void GatherSequence(const std::string& name)
    {
        if (m_plan.sequenceParallel)
        {
            m_writer.WaitFor(m_writer.Communicate(name, CollectiveOp::AllGather, m_shape.boundary));
        }
    }

    /** Sums a row-parallel layer's output over the tensor ranks. */
    int32_t Reduce(const std::string& name)
    {
        return m_plan.sequenceParallel
                   ? m_writer.Communicate(
                         name + " reduce-scatter", CollectiveOp::ReduceScatter, m_shape.boundary)
                   : m_writer.Communicate(
                         name + " all-reduce", CollectiveOp::AllReduce, m_shape.boundary);
    }

    const Transformer& m_model;
    const ParallelPlan& m_plan;
    RankShape m_shape;
    double m_element; //!< bytes of an activation
    SegmentWriter m_writer;
    LinearShape m_qkv;
    LinearShape m_projection;
    LinearShape m_fc1;
    LinearShape m_fc2;
};

} // namespace

SegmentSequence
LayerForward(KernelTable& kernels,
             const Transformer& model,
             const ParallelPlan& plan,
             const std::string& name)
{
    return LayerWriter(kernels, model, plan).Forward(name);
}

SegmentSequence
LayerBackward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    return LayerWriter(kernels, model, plan).Backward();
}

} // namespace weir
