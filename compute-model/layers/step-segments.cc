// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-segments.h"

#include "compute-model/layers/layer-kernels.h"
#include "compute-model/layers/linear-kernels.h"
#include "compute-model/layers/mixed-precision.h"
#include "compute-model/layers/pointwise-kernels.h"
#include "compute-model/layers/segment-writer.h"
#include "compute-model/models/transformer.h"
#include "compute-model/plan/rank-shape.h"

#include <vector>

namespace weir
{
namespace
{

void
ZeroDenseGradient(SegmentWriter& writer,
                  const ParallelPlan& plan,
                  const std::string& name,
                  uint64_t rows,
                  uint64_t columns)
{
    writer.Memory(name + " gradient zero",
                  MemoryKernel::Fill,
                  rows,
                  columns,
                  ActivationBytes(plan.precision));
}

/**
 * Adds a dense gradient to the gradient buffer. Under full sharding the unit's reduction takes it
 * directly.
 */
void
AccumulateDenseGradient(SegmentWriter& writer,
                        const ParallelPlan& plan,
                        const std::string& name,
                        uint64_t rows,
                        uint64_t columns)
{
    WriteGradientAdd(writer, plan, name + " gradient", rows, columns);
    writer.GradientsReady(static_cast<double>(rows) * static_cast<double>(columns));
}

/** Zeroes a dense gradient of rows x columns and then adds it to the gradient buffer. */
void
WriteDenseGradient(SegmentWriter& writer,
                   const ParallelPlan& plan,
                   const std::string& name,
                   uint64_t rows,
                   uint64_t columns)
{
    ZeroDenseGradient(writer, plan, name, rows, columns);
    AccumulateDenseGradient(writer, plan, name, rows, columns);
}

/** Bytes of one rank's words that are sent along its column. */
Bytes
WordBlock(const RankShape& shape, const ParallelPlan& plan)
{
    return Bytes(
        static_cast<int64_t>(shape.vocabulary * shape.hidden * ActivationBytes(plan.precision)));
}

void
LookUpWords(SegmentWriter& writer, const RankShape& shape, const ParallelPlan& plan)
{
    const double element = ActivationBytes(plan.precision);
    writer.Memory(
        "word embedding", MemoryKernel::EmbeddingForward, shape.tokens, shape.hidden, 2 * element);
    if (plan.WidthParts() > 1)
    {
        // Words of other ranks are looked up as word 0 and then zeroed.
        writer.Memory(
            "foreign words zero", MemoryKernel::Fill, shape.tokens, shape.hidden, element);
    }
}

/**
 * Looks up the words of one grid row after the other; the next row's are in flight if the plan
 * overlaps.
 */
void
LookUpInGrid(SegmentWriter& writer, const RankShape& shape, const ParallelPlan& plan)
{
    const double element = ActivationBytes(plan.precision);
    std::vector<int32_t> issued;
    for (uint32_t row = 0; row < plan.grid.side; row++)
    {
        while (issued.size() < plan.grid.side &&
               issued.size() <= row + (plan.overlapTensor ? 1 : 0))
        {
            issued.push_back(writer.CommunicateIn(ColumnGroup(plan),
                                                  "words broadcast",
                                                  CollectiveOp::Broadcast,
                                                  WordBlock(shape, plan),
                                                  static_cast<uint32_t>(issued.size())));
        }
        writer.WaitFor(issued[row]);
        LookUpWords(writer, shape, plan);
        if (row > 0)
        {
            writer.Memory(
                "words add", MemoryKernel::Elementwise, shape.tokens, shape.hidden, 3 * element);
        }
    }
}

void
WordGradientInGrid(SegmentWriter& writer, const RankShape& shape, const ParallelPlan& plan)
{
    int32_t before = Segment::NOTHING; // reduction that uses the next gradient's buffer
    int32_t last = Segment::NOTHING;
    for (uint32_t row = 0; row < plan.grid.side; row++)
    {
        writer.WaitFor(before);
        ZeroDenseGradient(writer, plan, "word", shape.vocabulary, shape.hidden);
        writer.Memory("word embedding backward",
                      MemoryKernel::EmbeddingBackward,
                      shape.tokens,
                      shape.hidden,
                      2.0 * ActivationBytes(plan.precision));
        before = last;
        last = writer.CommunicateIn(ColumnGroup(plan),
                                    "word gradient reduce",
                                    CollectiveOp::Reduce,
                                    WordBlock(shape, plan),
                                    row);
        if (!plan.overlapTensor)
        {
            writer.WaitFor(last);
        }
    }
    writer.WaitFor(last);
    AccumulateDenseGradient(writer, plan, "word", shape.vocabulary, shape.hidden);
}

/**
 * Megatron-LM's look-up: each rank looks up its words for all tokens, then results are summed over
 * ranks.
 */
void
LookUpInRow(SegmentWriter& writer, const RankShape& shape, const ParallelPlan& plan)
{
    LookUpWords(writer, shape, plan);
    writer.WaitFor(WriteTensorSum(writer, plan, "embedding", shape.boundary));
}

/**
 * The vocabulary-parallel word embedding (each tensor rank looks up its words, the results are
 * summed over ranks), learned positions and dropout, as Megatron-LM's first stage runs them.
 *
 * In a tensor grid of q x q ranks, rank (i, j) holds the i-th part of the words and the j-th part
 * of their columns. The look-up is a SUMMA GEMM with one-hot rows (Optimus): in step t, row t
 * broadcasts its words along the columns, and every rank looks up its tokens among them.
 */
SegmentSequence
EmbeddingForward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    const RankShape shape(model, plan);
    const double element = ActivationBytes(plan.precision);
    SegmentWriter writer(kernels, plan);
    writer.Section("forward embedding");
    if (plan.grid.side > 1)
    {
        LookUpInGrid(writer, shape, plan);
    }
    else
    {
        LookUpInRow(writer, shape, plan);
    }
    if (model.learnedPositions)
    {
        writer.Memory(
            "position add", MemoryKernel::Elementwise, shape.normTokens, shape.hidden, 3 * element);
    }
    if (model.dropout)
    {
        writer.Memory("embedding dropout",
                      MemoryKernel::Dropout,
                      shape.normTokens,
                      shape.hidden,
                      2 * element + 1);
    }
    return writer.Take();
}

/**
 * Its backward pass: a dense gradient of the rank's words, added to the gradient buffer. In a grid:
 * a dense gradient of each row's words in turn, reduced along columns into that row.
 */
SegmentSequence
EmbeddingBackward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    const RankShape shape(model, plan);
    const double element = ActivationBytes(plan.precision);
    SegmentWriter writer(kernels, plan);
    writer.Section("backward embedding");
    if (model.dropout)
    {
        writer.Memory("embedding dropout backward",
                      MemoryKernel::Dropout,
                      shape.normTokens,
                      shape.hidden,
                      2 * element + 1);
    }
    if (model.learnedPositions)
    {
        WriteDenseGradient(writer, plan, "position", model.sequence, shape.hidden);
    }
    if (plan.sequenceParallel)
    {
        writer.WaitFor(writer.Communicate(
            "embedding gradient all-gather", CollectiveOp::AllGather, shape.boundary));
    }
    if (plan.grid.side > 1)
    {
        WordGradientInGrid(writer, shape, plan);
        return writer.Take();
    }
    writer.Memory("word embedding backward",
                  MemoryKernel::EmbeddingBackward,
                  shape.tokens,
                  shape.hidden,
                  2 * element);
    WriteDenseGradient(writer, plan, "word", shape.vocabulary, shape.hidden);
    return writer.Take();
}

constexpr double LOSS_BYTES = 4; // logits are cast to fp32 before the loss

/**
 * Plan of the output layer, which is not computed in fp8 (Transformer Engine and torchao use bf16).
 */
ParallelPlan
InWideFormat(ParallelPlan plan)
{
    if (plan.precision == Precision::Fp8)
    {
        plan.precision = Precision::Bf16;
    }
    return plan;
}

/** Writes the kernels after the last layer. */
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
        // A tied embedding's gradients are final only when the embedding's backward pass has added
        // its own.
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

    /**
     * Excludes the logits' weights, whose last gradient is computed by the embedding's backward
     * pass.
     */
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

/**
 * The kernels after the last layer: final norm, logits of the rank's words, and the
 * vocabulary-parallel cross entropy in fp32 with its three small all-reduces (maximum, predicted
 * logit, sum of exponentials; megatron/core/tensor_parallel/cross_entropy.py).
 */
SegmentSequence
OutputForward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    return OutputWriter(kernels, model, plan).Forward();
}

/** Its backward pass: gradient of the logits, of the output weights and of the last layer. */
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

} // namespace

StepSegments::StepSegments(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
    : embeddingForward(EmbeddingForward(kernels, model, plan)),
      embeddingBackward(EmbeddingBackward(kernels, model, plan))
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
    outputForward = OutputForward(kernels, model, plan);
    outputBackward = OutputBackward(kernels, model, plan);
    writeRest(layer, LayerKind::Mlp);
    if (model.HasExperts())
    {
        expertLayer.forward = write(LayerKind::Experts, LayerPass::Forward);
        expertLayer.backward = write(LayerKind::Experts, LayerPass::Backward);
        writeRest(expertLayer, LayerKind::Experts);
    }
}

} // namespace weir
