// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/layer-kernels.h"

#include "compute-model/layers/linear-kernels.h"
#include "compute-model/layers/pointwise-kernels.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

/** Whether more of a layer than its attention core is recomputed. */
bool
RecomputesLayers(const ParallelPlan& plan)
{
    return plan.recomputation != Recomputation::None &&
           plan.recomputation != Recomputation::Selective;
}

/** Writes one layer's kernels; each method is one line of the layer's code. */
class LayerWriter
{
  public:
    LayerWriter(KernelTable& kernels,
                const Transformer& model,
                const ParallelPlan& plan,
                LayerKind kind)
        : m_kind(kind),
          m_model(model),
          m_plan(plan),
          m_shape(model, plan),
          m_element(ActivationBytes(plan.precision)),
          m_writer(kernels, plan),
          m_pointwise(m_writer, model)
    {
        constexpr GatheredOperand COLUMN_PARALLEL = GatheredOperand::Input;
        constexpr GatheredOperand ROW_PARALLEL = GatheredOperand::OutputGradient;
        const auto linear =
            [&](const char* name, uint64_t in, uint64_t out, GatheredOperand gathered) {
                const double inputs = static_cast<double>(in) + (model.biases ? 1 : 0);
                return LinearShape{name,
                                   m_shape.tokens,
                                   in,
                                   out,
                                   inputs * static_cast<double>(out),
                                   false,
                                   gathered,
                                   m_shape.boundary};
            };
        m_qkv = linear("QKV", m_shape.hidden, m_shape.qkv, COLUMN_PARALLEL);
        m_projection = linear("projection", m_shape.query, m_shape.hidden, ROW_PARALLEL);
        m_fc1 = linear("FC1", m_shape.hidden, m_shape.inner, COLUMN_PARALLEL);
        m_fc2 = linear("FC2", m_shape.ffn, m_shape.hidden, ROW_PARALLEL);
    }

    SegmentSequence Forward(const std::string& name)
    {
        m_writer.Section(name + " attention");
        m_pointwise.Norm("input norm");
        WriteLinearForward(m_writer, m_qkv, WriteGather(m_writer, m_qkv));
        AddBias("QKV bias", m_shape.qkv);
        m_pointwise.Rotary("rotary");
        WriteAttention(m_writer, m_model, false);
        WriteRowParallelForward(m_writer, m_projection);
        m_writer.Section(name + " MLP");
        m_pointwise.BiasDropoutAdd("attention bias dropout add");
        m_pointwise.Norm("MLP norm");
        if (m_kind == LayerKind::Experts)
        {
            WriteExpertsForward(m_writer, m_model);
        }
        else
        {
            MlpForward();
        }
        m_pointwise.BiasDropoutAdd("MLP bias dropout add");
        return m_writer.Take();
    }

    SegmentSequence Recompute()
    {
        if (m_plan.recomputation == Recomputation::Full)
        {
            return Forward("recompute");
        }
        const bool isNeeded = m_plan.recomputation == Recomputation::Needed;
        m_writer.Section("recompute attention");
        m_pointwise.Norm("input norm");
        // Of the GEMMs q, k, v, o, gate, up, down, every second one is recomputed: k, o, up.
        WriteLinearForward(m_writer,
                           isNeeded ? m_qkv : Part(m_qkv, m_shape.kvHeads * m_model.headDim),
                           WriteGather(m_writer, m_qkv));
        m_pointwise.Rotary("rotary");
        if (isNeeded)
        {
            WriteAttention(m_writer, m_model, false);
        }
        if (isNeeded)
        {
            WriteRowParallelForward(m_writer, m_projection);
        }
        else
        {
            WriteLinearForward(m_writer, m_projection);
        }
        m_writer.Section("recompute MLP");
        m_pointwise.BiasDropoutAdd("attention bias dropout add");
        m_pointwise.Norm("MLP norm");
        if (m_kind == LayerKind::Experts)
        {
            WriteExpertsRecompute(m_writer, m_model);
            return m_writer.Take();
        }
        const bool isGated = m_model.MlpInputs() > 1;
        if (isNeeded || isGated)
        {
            WriteLinearForward(m_writer,
                               isNeeded ? m_fc1 : Part(m_fc1, m_shape.ffn),
                               WriteGather(m_writer, m_fc1));
        }
        m_pointwise.Activation();
        return m_writer.Take();
    }

    SegmentSequence Backward()
    {
        m_writer.Section("backward MLP");
        // The sum of routed experts' rows has no bias of its own; that of a shared expert has one.
        const bool hasBias = m_kind == LayerKind::Mlp || m_model.moe.sharedFfn > 0;
        BiasDropoutAddBackward("MLP bias dropout add backward", hasBias);
        if (m_kind == LayerKind::Experts)
        {
            WriteExpertsBackward(m_writer, m_model, m_defersWeightGradients);
        }
        else
        {
            MlpBackward();
        }
        m_pointwise.NormBackward("MLP norm backward", true);
        m_writer.Section("backward attention");
        BiasDropoutAddBackward("attention bias dropout add backward", true);
        WriteInputGradient(m_writer, m_projection, WriteGather(m_writer, m_projection));
        WeightGradient(m_projection);
        if (m_plan.recomputation == Recomputation::Selective)
        {
            WriteAttention(m_writer, m_model, false);
        }
        WriteAttention(m_writer, m_model, true);
        m_pointwise.Rotary("rotary backward");
        SumBias("QKV bias gradient", m_shape.tokens, m_shape.qkv);
        WriteColumnParallelBackward(m_writer, m_qkv, m_defersWeightGradients);
        m_pointwise.NormBackward("input norm backward", true);
        return m_writer.Take();
    }

    SegmentSequence BackwardInput()
    {
        m_defersWeightGradients = true;
        return Backward();
    }

    SegmentSequence BackwardWeights()
    {
        m_writer.Section("backward weights");
        if (m_kind == LayerKind::Experts)
        {
            WriteExpertsWeights(m_writer, m_model);
        }
        for (const LinearShape* linear : {&m_fc2, &m_fc1, &m_projection, &m_qkv})
        {
            if (m_kind == LayerKind::Experts && (linear == &m_fc1 || linear == &m_fc2))
            {
                continue;
            }
            const bool isColumnParallel = linear == &m_fc1 || linear == &m_qkv;
            if (isColumnParallel && m_plan.sequenceParallel)
            {
                m_writer.WaitFor(m_writer.Communicate(GatheredName(*linear) + " all-gather",
                                                      CollectiveOp::AllGather,
                                                      GatheredBytes(linear->whole, m_plan)));
            }
            WriteWeightGradient(m_writer, *linear);
        }
        return m_writer.Take();
    }

  private:
    /** dW of a row-parallel layer, unless it is deferred. */
    void WeightGradient(const LinearShape& linear)
    {
        if (!m_defersWeightGradients)
        {
            WriteWeightGradient(m_writer, linear);
        }
    }

    /** The first @p columns of a linear layer. */
    static LinearShape Part(LinearShape linear, uint64_t columns)
    {
        linear.out = columns;
        return linear;
    }

    void MlpForward()
    {
        WriteLinearForward(m_writer, m_fc1, WriteGather(m_writer, m_fc1));
        m_pointwise.Activation();
        WriteRowParallelForward(m_writer, m_fc2);
    }

    void MlpBackward()
    {
        WriteInputGradient(m_writer, m_fc2, WriteGather(m_writer, m_fc2));
        WeightGradient(m_fc2);
        ActivationBackward();
        WriteColumnParallelBackward(m_writer, m_fc1, m_defersWeightGradients);
    }

    void Elementwise(const std::string& name, uint64_t rows, uint64_t columns, double operands)
    {
        m_writer.Memory(name, MemoryKernel::Elementwise, rows, columns, operands * m_element);
    }

    void BiasDropoutAddBackward(const std::string& name, bool hasBias)
    {
        if (m_model.dropout)
        {
            m_writer.Memory(
                name, MemoryKernel::Dropout, m_shape.normTokens, m_shape.hidden, 2 * m_element + 1);
        }
        if (hasBias)
        {
            SumBias("bias gradient", m_shape.normTokens, m_shape.hidden);
        }
    }

    /** Bias as a separate kernel; PyTorch's own linear layers add it within the GEMM. */
    void AddBias(const std::string& name, uint64_t columns)
    {
        if (m_model.biases && m_plan.fusion == KernelFusion::Kernels)
        {
            Elementwise(name, m_shape.tokens, columns, 2);
        }
    }

    void SumBias(const std::string& name, uint64_t rows, uint64_t columns)
    {
        if (m_model.biases && m_plan.fusion != KernelFusion::Compiled)
        {
            Elementwise(name, rows, columns, 1);
        }
    }

    void ActivationBackward()
    {
        m_pointwise.ActivationBackward();
        SumBias("FC1 bias gradient", m_shape.tokens, m_shape.inner);
    }

    LayerKind m_kind;
    const Transformer& m_model;
    const ParallelPlan& m_plan;
    RankShape m_shape;
    double m_element; //!< bytes of an activation
    SegmentWriter m_writer;
    PointwiseWriter m_pointwise;
    bool m_defersWeightGradients{false}; //!< weight gradients are deferred to BackwardWeights
    LinearShape m_qkv;
    LinearShape m_projection;
    LinearShape m_fc1;
    LinearShape m_fc2;
};

} // namespace

SegmentSequence
WriteLayer(KernelTable& kernels,
           const Transformer& model,
           const ParallelPlan& plan,
           LayerKind kind,
           LayerPass pass)
{
    if (pass == LayerPass::Recompute && !RecomputesLayers(plan))
    {
        return {};
    }
    LayerWriter writer(kernels, model, plan, kind);
    switch (pass)
    {
    case LayerPass::Forward:
        return writer.Forward("forward");
    case LayerPass::Recompute:
        return writer.Recompute();
    case LayerPass::Backward:
        return writer.Backward();
    case LayerPass::BackwardInput:
        return writer.BackwardInput();
    case LayerPass::BackwardWeights:
        break;
    }
    return writer.BackwardWeights();
}

} // namespace weir
