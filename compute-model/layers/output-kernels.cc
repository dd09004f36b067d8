// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/output-kernels.h"

#include "compute-model/layers/linear-kernels.h"
#include "compute-model/layers/pointwise-kernels.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

constexpr double LOSS_BYTES = 4; // logits are turned to fp32 before the loss

/** The output layer is not computed in fp8 (Transformer Engine and torchao leave it in bf16). */
ParallelPlan
InWideFormat(ParallelPlan plan)
{
    if (plan.precision == Precision::Fp8)
    {
        plan.precision = Precision::Bf16;
    }
    return plan;
}

/** Writes the kernels behind the last layer. */
class OutputWriter
{
  public:
    OutputWriter(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
        : m_model(model),
          m_plan(InWideFormat(plan)),
          m_shape(model, plan),
          m_element(ActivationBytes(plan.precision)),
          m_writer(kernels, plan),
          m_pointwise(m_writer, m_model, m_plan)
    {
        m_logits.name = "logits";
        m_logits.rows = m_shape.tokens;
        m_logits.in = m_shape.hidden;
        m_logits.out = m_shape.vocabulary;
        m_logits.isEmbedding = model.tiedEmbeddings;
        m_logits.parameters =
            static_cast<double>(m_shape.hidden) * static_cast<double>(m_shape.vocabulary);
        m_head.name = "prediction head";
        m_head.rows = m_shape.normTokens;
        m_head.in = m_shape.hidden;
        m_head.out = m_shape.hidden;
        m_head.parameters =
            static_cast<double>(m_shape.hidden) * static_cast<double>(m_shape.hidden + 1);
    }

    SegmentSequence Forward()
    {
        m_writer.Section("forward output");
        m_pointwise.Norm("final norm");
        if (m_model.predictionHead)
        {
            WriteLinearForward(m_writer, m_head, m_plan);
            OverTokens("prediction head GELU", MemoryKernel::BiasGelu, 2 * m_element);
            m_pointwise.Norm("prediction head norm");
        }
        if (m_plan.sequenceParallel)
        {
            m_writer.WaitFor(m_writer.Communicate(
                "logits input all-gather", CollectiveOp::AllGather, m_shape.boundary));
        }
        WriteLinearForward(m_writer, m_logits, m_plan);
        Loss();
        return m_writer.Take();
    }

    SegmentSequence Backward()
    {
        m_writer.Section("backward output");
        LossBackward();
        // A tied embedding's gradients are final when the first layer's embedding has added its
        // own.
        WriteColumnParallelBackward(m_writer, m_logits, m_plan, m_shape.boundary);
        if (m_model.predictionHead)
        {
            NormBackward("prediction head norm backward");
            OverTokens("prediction head GELU backward", MemoryKernel::BiasGelu, 3 * m_element);
            WriteInputGradient(m_writer, m_head, m_plan);
            WriteWeightGradient(m_writer, m_head, m_plan);
        }
        NormBackward("final norm backward");
        return m_writer.Take();
    }

    /** The weights are counted where their last gradient comes from. */
    void ForgetWeights()
    {
        m_logits.parameters = 0;
    }

  private:
    bool IsLayerNorm() const
    {
        return m_model.norm == NormKind::LayerNorm;
    }

    void OverTokens(const std::string& name, MemoryKernel kernel, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, m_shape.normTokens, m_shape.hidden, bytesPerElement);
    }

    void NormBackward(const std::string& name)
    {
        m_pointwise.NormBackward(name, false);
        m_writer.GradientsReady(static_cast<double>((IsLayerNorm() ? 2 : 1) * m_shape.hidden));
    }

    void Loss()
    {
        switch (m_plan.Loss())
        {
        case LossKernels::InPlace:
            OverLogits("cross entropy", MemoryKernel::CrossEntropyForward, m_element);
            ReducePerToken("softmax sum all-reduce");
            return;
        case LossKernels::LogSoftmax:
            if (m_plan.WidthParts() > 1)
            {
                break; // DTensor's loss_parallel has the same steps as Megatron-LM
            }
            OverLogits("logits cast", MemoryKernel::Elementwise, m_element + LOSS_BYTES);
            OverLogits("log-softmax", MemoryKernel::CrossEntropyForward, 2 * LOSS_BYTES);
            return;
        case LossKernels::VocabularyParallel:
        case LossKernels::Default:
            break;
        }
        OverLogits("logits cast", MemoryKernel::Elementwise, m_element + LOSS_BYTES);
        OverLogits("logits maximum", MemoryKernel::CrossEntropyForward, LOSS_BYTES);
        ReducePerToken("logits maximum all-reduce");
        OverLogits("logits minus maximum", MemoryKernel::Elementwise, 2 * LOSS_BYTES);
        ReducePerToken("predicted logit all-reduce");
        OverLogits("exponential", MemoryKernel::Elementwise, 2 * LOSS_BYTES);
        OverLogits("exponential sum", MemoryKernel::CrossEntropyForward, LOSS_BYTES);
        ReducePerToken("exponential sum all-reduce");
        OverLogits("softmax division", MemoryKernel::Elementwise, 2 * LOSS_BYTES);
    }

    void LossBackward()
    {
        if (m_plan.Loss() == LossKernels::InPlace)
        {
            OverLogits("cross entropy backward", MemoryKernel::Elementwise, 2 * m_element);
            return;
        }
        // Of the log-softmax: its own gradient is written, read with it, and the logits' written.
        const double operands = m_plan.Loss() == LossKernels::LogSoftmax ? 5 : 2;
        OverLogits(
            "cross entropy backward", MemoryKernel::CrossEntropyBackward, operands * LOSS_BYTES);
        OverLogits("logits gradient cast", MemoryKernel::Elementwise, LOSS_BYTES + m_element);
    }

    void OverLogits(const std::string& name, MemoryKernel kernel, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, m_shape.tokens, m_shape.vocabulary, bytesPerElement);
    }

    void ReducePerToken(const std::string& name)
    {
        const Bytes bytes(static_cast<int64_t>(m_shape.tokens * BytesOf(Precision::Fp32)));
        m_writer.WaitFor(m_writer.Communicate(name, CollectiveOp::AllReduce, bytes));
    }

    const Transformer& m_model;
    ParallelPlan m_plan;
    RankShape m_shape;
    double m_element; //!< bytes of an activation
    SegmentWriter m_writer;
    PointwiseWriter m_pointwise;
    LinearShape m_logits;
    LinearShape m_head; //!< the prediction head's dense layer
};

} // namespace

SegmentSequence
OutputForward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    return OutputWriter(kernels, model, plan).Forward();
}

SegmentSequence
OutputBackward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    OutputWriter writer(kernels, model, plan);
    if (model.tiedEmbeddings && plan.pipeline == 1)
    {
        writer.ForgetWeights();
    }
    return writer.Backward();
}

} // namespace weir
