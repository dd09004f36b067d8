// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-segments.h"

#include "compute-model/layers/gradient-accumulation.h"
#include "compute-model/layers/layer-kernels.h"
#include "compute-model/layers/linear-kernels.h"
#include "compute-model/layers/pointwise-kernels.h"
#include "compute-model/layers/summa-gemm.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{
namespace
{

/**
 * Writes the vocabulary-parallel word embedding, learned positions and dropout, as Megatron-LM's
 * first stage runs them: each tensor rank looks up its words for all tokens, then the results are
 * summed over ranks.
 *
 * In a tensor grid of q x q ranks, rank (i, j) holds the i-th part of the words and the j-th part
 * of their columns. The look-up is a SUMMA GEMM with one-hot rows (Optimus): in step t, row t
 * broadcasts its words along the columns, and every rank looks up its tokens among them.
 */
class EmbeddingWriter
{
  public:
    EmbeddingWriter(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
        : m_model(model),
          m_plan(plan),
          m_shape(model, plan),
          m_element(ActivationBytes(plan.precision)),
          m_writer(kernels, plan)
    {
    }

    SegmentSequence Forward()
    {
        m_writer.Section("forward embedding");
        if (m_plan.grid.side > 1)
        {
            LookUpInGrid();
        }
        else
        {
            LookUpWords();
            m_writer.WaitFor(WriteTensorSum(m_writer, "embedding", m_shape.boundary));
        }
        if (m_model.learnedPositions)
        {
            OverNormTokens("position add", MemoryKernel::Elementwise, 3 * m_element);
        }
        if (m_model.dropout)
        {
            OverNormTokens("embedding dropout", MemoryKernel::Dropout, 2 * m_element + 1);
        }
        return m_writer.Take();
    }

    /**
     * A dense gradient of the rank's words, added to the gradient buffer. In a grid: a dense
     * gradient of each row's words in turn, reduced along columns into that row.
     */
    SegmentSequence Backward()
    {
        m_writer.Section("backward embedding");
        if (m_model.dropout)
        {
            OverNormTokens("embedding dropout backward", MemoryKernel::Dropout, 2 * m_element + 1);
        }
        if (m_model.learnedPositions)
        {
            ZeroGradient("position", m_model.sequence);
            AccumulateGradient("position", m_model.sequence);
        }
        if (m_plan.sequenceParallel)
        {
            m_writer.WaitFor(m_writer.Communicate(
                "embedding gradient all-gather", CollectiveOp::AllGather, m_shape.boundary));
        }
        if (m_plan.grid.side > 1)
        {
            WordGradientInGrid();
        }
        else
        {
            OverTokens("word embedding backward", MemoryKernel::EmbeddingBackward, 2 * m_element);
            ZeroGradient("word", m_shape.vocabulary);
        }
        AccumulateGradient("word", m_shape.vocabulary);
        return m_writer.Take();
    }

  private:
    void OverTokens(const std::string& name, MemoryKernel kernel, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, m_shape.tokens, m_shape.hidden, bytesPerElement);
    }

    void OverNormTokens(const std::string& name, MemoryKernel kernel, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, m_shape.normTokens, m_shape.hidden, bytesPerElement);
    }

    void ZeroGradient(const std::string& name, uint64_t rows)
    {
        m_writer.Memory(
            name + " gradient zero", MemoryKernel::Fill, rows, m_shape.hidden, m_element);
    }

    /**
     * Adds a dense gradient to the gradient buffer. Under full sharding the unit's reduction takes
     * it directly.
     */
    void AccumulateGradient(const std::string& name, uint64_t rows)
    {
        WriteGradientAdd(m_writer, name + " gradient", rows, m_shape.hidden);
        m_writer.GradientsReady(static_cast<double>(rows) * static_cast<double>(m_shape.hidden));
    }

    /** Bytes of one rank's words that are sent along its column. */
    Bytes WordBlock() const
    {
        return Bytes(static_cast<int64_t>(m_shape.vocabulary * m_shape.hidden) *
                     static_cast<int64_t>(m_element));
    }

    void LookUpWords()
    {
        OverTokens("word embedding", MemoryKernel::EmbeddingForward, 2 * m_element);
        if (m_plan.WidthParts() > 1)
        {
            // Words of other ranks are looked up as word 0 and then zeroed.
            OverTokens("foreign words zero", MemoryKernel::Fill, m_element);
        }
    }

    /** Looks up the words of one grid row after the other. */
    void LookUpInGrid()
    {
        BlockBroadcast words(m_writer, ColumnGroup(m_plan), "words", WordBlock());
        for (uint32_t row = 0; row < m_plan.grid.side; row++)
        {
            words.Issue(row);
            words.WaitFor(row);
            LookUpWords();
            if (row > 0)
            {
                OverTokens("words add", MemoryKernel::Elementwise, 3 * m_element);
            }
        }
    }

    void WordGradientInGrid()
    {
        BlockReduction gradients(m_writer, ColumnGroup(m_plan), "word gradient", WordBlock());
        for (uint32_t row = 0; row < m_plan.grid.side; row++)
        {
            gradients.FreeBuffer();
            ZeroGradient("word", m_shape.vocabulary);
            OverTokens("word embedding backward", MemoryKernel::EmbeddingBackward, 2 * m_element);
            gradients.Issue();
        }
        gradients.Finish();
    }

    const Transformer& m_model;
    const ParallelPlan& m_plan;
    RankShape m_shape;
    double m_element; //!< bytes of an activation
    SegmentWriter m_writer;
};

constexpr double LOSS_BYTES = 4; // logits are cast to fp32 before the loss

/**
 * Plan of the output layer, which is not computed in fp8 (Transformer Engine and torchao use bf16).
 */
ParallelPlan
InWideFormat(ParallelPlan plan)
{
    plan.precision = ActivationPrecision(plan.precision);
    return plan;
}

/**
 * Writes the kernels after the last layer: final norm, logits of the rank's words, and the
 * vocabulary-parallel cross entropy in fp32 with its three small all-reduces (maximum, predicted
 * logit, sum of exponentials; megatron/core/tensor_parallel/cross_entropy.py).
 */
class OutputWriter
{
  public:
    OutputWriter(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
        : m_model(model),
          m_plan(InWideFormat(plan)),
          m_shape(model, plan),
          m_element(ActivationBytes(plan.precision)),
          m_writer(kernels, m_plan),
          m_pointwise(m_writer, m_model)
    {
        const auto hidden = static_cast<double>(m_shape.hidden);
        // The last gradient of a tied embedding is that of the embedding's backward pass.
        const bool isOfEmbedding = model.tiedEmbeddings && plan.pipeline == 1;
        m_logits = {"logits",
                    m_shape.tokens,
                    m_shape.hidden,
                    m_shape.vocabulary,
                    isOfEmbedding ? 0 : hidden * static_cast<double>(m_shape.vocabulary),
                    model.tiedEmbeddings,
                    GatheredOperand::None,
                    m_shape.boundary};
        m_head = {"prediction head",
                  m_shape.normTokens,
                  m_shape.hidden,
                  m_shape.hidden,
                  hidden * (hidden + 1)};
    }

    SegmentSequence Forward()
    {
        m_writer.Section("forward output");
        m_pointwise.Norm("final norm");
        if (m_model.predictionHead)
        {
            WriteLinearForward(m_writer, m_head);
            OverTokens("prediction head GELU", MemoryKernel::BiasGelu, 2 * m_element);
            m_pointwise.Norm("prediction head norm");
        }
        if (m_plan.sequenceParallel)
        {
            m_writer.WaitFor(m_writer.Communicate(
                "logits input all-gather", CollectiveOp::AllGather, m_shape.boundary));
        }
        WriteLinearForward(m_writer, m_logits);
        Loss();
        return m_writer.Take();
    }

    SegmentSequence Backward()
    {
        m_writer.Section("backward output");
        LossBackward();
        WriteColumnParallelBackward(m_writer, m_logits);
        if (m_model.predictionHead)
        {
            m_pointwise.NormBackward("prediction head norm backward", false);
            OverTokens("prediction head GELU backward", MemoryKernel::BiasGelu, 3 * m_element);
            WriteInputGradient(m_writer, m_head);
            WriteWeightGradient(m_writer, m_head);
        }
        m_pointwise.NormBackward("final norm backward", false);
        return m_writer.Take();
    }

  private:
    void OverTokens(const std::string& name, MemoryKernel kernel, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, m_shape.normTokens, m_shape.hidden, bytesPerElement);
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
        // Log-softmax: its own gradient is written, then read with it, and the logits' gradient is
        // written.
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

StepSegments::StepSegments(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
    : embeddingForward(EmbeddingWriter(kernels, model, plan).Forward()),
      embeddingBackward(EmbeddingWriter(kernels, model, plan).Backward())
{
    const auto write = [&](LayerKind kind, LayerPass pass) {
        return WriteLayer(kernels, model, plan, kind, pass);
    };
    const auto writeRest = [&](LayerSegments& of, LayerKind kind) {
        of.recompute = write(kind, LayerPass::Recompute);
        if (plan.SplitsBackward())
        {
            of.backwardInput = write(kind, LayerPass::BackwardInput);
            of.backwardWeights = write(kind, LayerPass::BackwardWeights);
        }
    };
    layer.forward = write(LayerKind::Mlp, LayerPass::Forward);
    layer.backward = write(LayerKind::Mlp, LayerPass::Backward);
    outputForward = OutputWriter(kernels, model, plan).Forward();
    outputBackward = OutputWriter(kernels, model, plan).Backward();
    writeRest(layer, LayerKind::Mlp);
    if (model.HasExperts())
    {
        expertLayer.forward = write(LayerKind::Experts, LayerPass::Forward);
        expertLayer.backward = write(LayerKind::Experts, LayerPass::Backward);
        writeRest(expertLayer, LayerKind::Experts);
    }
}

} // namespace weir
