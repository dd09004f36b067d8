// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/layer-kernels.h"

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
class LayerWriter : public TransformerWriter
{
  public:
    LayerWriter(KernelTable& kernels,
                const Transformer& model,
                const ParallelPlan& plan,
                bool hasExperts)
        : TransformerWriter(kernels, model, plan),
          m_hasExperts(hasExperts)
    {
        constexpr GatheredOperand COLUMN_PARALLEL = GatheredOperand::Input;
        constexpr GatheredOperand ROW_PARALLEL = GatheredOperand::OutputGradient;
        const RankShape& shape = Shape();
        m_qkv = Linear("QKV", shape.hidden, shape.qkv, COLUMN_PARALLEL);
        m_projection = Linear("projection", shape.query, shape.hidden, ROW_PARALLEL);
        m_mlp = {Linear("FC1", shape.hidden, shape.inner, COLUMN_PARALLEL),
                 Linear("FC2", shape.ffn, shape.hidden, ROW_PARALLEL),
                 ActivationName()};
    }

    void Forward(const std::string& name)
    {
        Section(name + " attention");
        Norm("input norm");
        WriteLinearForward(*this, m_qkv, WriteGather(*this, m_qkv));
        // PyTorch's own linear layers add their bias within the GEMM.
        if (Model().biases && Plan().fusion == KernelFusion::Kernels)
        {
            Elementwise("QKV bias", {Shape().tokens, Shape().qkv}, 2);
        }
        Rotary("rotary");
        WriteAttention(*this, false);
        WriteRowParallelForward(*this, m_projection);
        Section(name + " MLP");
        BiasDropoutAdd("attention bias dropout add");
        Norm("MLP norm");
        if (m_hasExperts)
        {
            WriteExperts(*this, LayerPass::Forward);
        }
        else
        {
            MlpForward(m_mlp);
        }
        BiasDropoutAdd("MLP bias dropout add");
    }

    void Recompute()
    {
        if (Plan().recomputation == Recomputation::Full)
        {
            Forward("recompute");
            return;
        }
        const bool isNeeded = Plan().recomputation == Recomputation::Needed;
        Section("recompute attention");
        Norm("input norm");
        // Of the GEMMs q, k, v, o, gate, up, down, every second one is recomputed: k, o, up.
        WriteLinearForward(*this,
                           isNeeded ? m_qkv : Part(m_qkv, Shape().kvHeads * Model().headDim),
                           WriteGather(*this, m_qkv));
        Rotary("rotary");
        if (isNeeded)
        {
            WriteAttention(*this, false);
            WriteRowParallelForward(*this, m_projection);
        }
        else
        {
            WriteLinearForward(*this, m_projection);
        }
        Section("recompute MLP");
        BiasDropoutAdd("attention bias dropout add");
        Norm("MLP norm");
        if (m_hasExperts)
        {
            WriteExperts(*this, LayerPass::Recompute);
            return;
        }
        const bool isGated = Model().MlpInputs() > 1;
        if (isNeeded || isGated)
        {
            WriteLinearForward(*this,
                               isNeeded ? m_mlp.fc1 : Part(m_mlp.fc1, Shape().ffn),
                               WriteGather(*this, m_mlp.fc1));
        }
        Activation(m_mlp.activation, {Shape().tokens, Shape().ffn}, false);
    }

    /** @param pass Backward or BackwardInput */
    void Backward(LayerPass pass)
    {
        const bool defersWeightGradients = pass == LayerPass::BackwardInput;
        Section("backward MLP");
        // The sum of routed experts' rows has no bias of its own; that of a shared expert has one.
        const bool hasBias = !m_hasExperts || Model().moe.sharedFfn > 0;
        BiasDropoutAddBackward("MLP bias dropout add backward", hasBias);
        if (m_hasExperts)
        {
            WriteExperts(*this, pass);
        }
        else
        {
            MlpBackward(m_mlp, defersWeightGradients);
        }
        NormBackward("MLP norm backward", true);
        Section("backward attention");
        BiasDropoutAddBackward("attention bias dropout add backward", true);
        WriteInputGradient(*this, m_projection, WriteGather(*this, m_projection));
        if (!defersWeightGradients)
        {
            WriteWeightGradient(*this, m_projection);
        }
        if (Plan().recomputation == Recomputation::Selective)
        {
            WriteAttention(*this, false);
        }
        WriteAttention(*this, true);
        Rotary("rotary backward");
        SumBias("QKV bias gradient", {Shape().tokens, Shape().qkv});
        WriteColumnParallelBackward(*this, m_qkv, defersWeightGradients);
        NormBackward("input norm backward", true);
    }

    void BackwardWeights()
    {
        Section("backward weights");
        if (m_hasExperts)
        {
            WriteExperts(*this, LayerPass::BackwardWeights);
        }
        else
        {
            MlpWeights(m_mlp);
        }
        WriteDeferredWeightGradient(*this, m_projection);
        WriteDeferredWeightGradient(*this, m_qkv);
    }

  private:
    /** The first @p columns of a linear layer. */
    static LinearShape Part(LinearShape linear, uint64_t columns)
    {
        linear.out = columns;
        return linear;
    }

    void BiasDropoutAddBackward(const std::string& name, bool hasBias)
    {
        if (Model().dropout)
        {
            Memory(name, MemoryKernel::Dropout, Hidden(), 2 * ElementBytes() + 1);
        }
        if (hasBias)
        {
            SumBias("bias gradient", Hidden());
        }
    }

    bool m_hasExperts;
    LinearShape m_qkv;
    LinearShape m_projection;
    MlpShape m_mlp;
};

} // namespace

SegmentSequence
WriteLayer(KernelTable& kernels,
           const Transformer& model,
           const ParallelPlan& plan,
           bool hasExperts,
           LayerPass pass)
{
    LayerWriter writer(kernels, model, plan, hasExperts);
    switch (pass)
    {
    case LayerPass::Forward:
        writer.Forward("forward");
        break;
    case LayerPass::Recompute:
        if (RecomputesLayers(plan))
        {
            writer.Recompute();
        }
        break;
    case LayerPass::Backward:
    case LayerPass::BackwardInput:
        writer.Backward(pass);
        break;
    case LayerPass::BackwardWeights:
        writer.BackwardWeights();
        break;
    }
    return writer.Take();
}

} // namespace weir
