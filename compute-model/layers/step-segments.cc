// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-segments.h"

#include "compute-model/kernels/tensor-clock.h"
#include "compute-model/layers/layer-kernels.h"
#include "compute-model/layers/summa-gemm.h"
#include "compute-model/layers/transformer-writer.h"

#include <algorithm>
#include <cmath>

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
class EmbeddingWriter : public TransformerWriter
{
  public:
    using TransformerWriter::TransformerWriter;

    SegmentSequence Forward()
    {
        Section("forward embedding");
        if (Plan().grid.side > 1)
        {
            LookUpInGrid();
        }
        else
        {
            LookUpWords();
            WaitFor(WriteTensorSum(*this, "embedding", Shape().boundary));
        }
        if (Model().learnedPositions)
        {
            Elementwise("position add", Hidden(), 3);
        }
        Dropout("embedding dropout");
        return Take();
    }

    /**
     * A dense gradient of the rank's words, added to the gradient buffer. In a grid: a dense
     * gradient of each row's words in turn, reduced along columns into that row.
     */
    SegmentSequence Backward()
    {
        Section("backward embedding");
        Dropout("embedding dropout backward");
        if (Model().learnedPositions)
        {
            ZeroGradient("position", Model().sequence);
            AccumulateGradient("position", Model().sequence);
        }
        if (Plan().sequenceParallel)
        {
            WaitFor(Communicate(
                "embedding gradient all-gather", CollectiveOp::AllGather, Shape().boundary));
        }
        if (Plan().grid.side > 1)
        {
            WordGradientInGrid();
        }
        else
        {
            WordGradient();
            ZeroGradient("word", Shape().vocabulary);
        }
        AccumulateGradient("word", Shape().vocabulary);
        return Take();
    }

  private:
    void Dropout(const std::string& name)
    {
        if (Model().dropout)
        {
            Memory(name, MemoryKernel::Dropout, Hidden(), 2 * ElementBytes() + 1);
        }
    }

    void WordGradient()
    {
        Memory("word embedding backward",
               MemoryKernel::EmbeddingBackward,
               TokensByHidden(),
               2 * ElementBytes());
    }

    void ZeroGradient(const std::string& name, uint64_t rows)
    {
        Memory(name + " gradient zero", MemoryKernel::Fill, {rows, Shape().hidden}, ElementBytes());
    }

    /**
     * Adds a dense gradient to the gradient buffer. Under full sharding the unit's reduction takes
     * it directly.
     */
    void AccumulateGradient(const std::string& name, uint64_t rows)
    {
        WriteGradientAdd(*this, name + " gradient", {rows, Shape().hidden});
        GradientsReady(static_cast<double>(rows) * static_cast<double>(Shape().hidden));
    }

    /** Bytes of one rank's words that are sent along its column. */
    Bytes WordBlock() const
    {
        return Bytes(static_cast<int64_t>(Shape().vocabulary * Shape().hidden) *
                     static_cast<int64_t>(ElementBytes()));
    }

    void LookUpWords()
    {
        const double element = ElementBytes();
        Memory("word embedding", MemoryKernel::EmbeddingForward, TokensByHidden(), 2 * element);
        if (Plan().WidthParts() > 1)
        {
            // Words of other ranks are looked up as word 0 and then zeroed.
            Memory("foreign words zero", MemoryKernel::Fill, TokensByHidden(), element);
        }
    }

    /** Looks up the words of one grid row after the other. */
    void LookUpInGrid()
    {
        BlockLine words(*this, CollectiveOp::Broadcast, ColumnGroup(Plan()), "words", WordBlock());
        for (uint32_t row = 0; row < Plan().grid.side; row++)
        {
            words.Send(row);
            words.Await(row);
            LookUpWords();
            if (row > 0)
            {
                Elementwise("words add", TokensByHidden(), 3);
            }
        }
    }

    void WordGradientInGrid()
    {
        BlockLine gradients(
            *this, CollectiveOp::Reduce, ColumnGroup(Plan()), "word gradient", WordBlock());
        for (uint32_t row = 0; row < Plan().grid.side; row++)
        {
            gradients.Await(row);
            ZeroGradient("word", Shape().vocabulary);
            WordGradient();
            gradients.Collect();
        }
        gradients.Finish();
    }
};

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
 * vocabulary-parallel cross entropy in fp32, to which logits are cast, with its three small
 * all-reduces (maximum, predicted logit, sum of exponentials;
 * megatron/core/tensor_parallel/cross_entropy.py).
 */
class OutputWriter : public TransformerWriter
{
  public:
    /** @param plan in a wide format */
    OutputWriter(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
        : TransformerWriter(kernels, model, plan)
    {
        const uint64_t hidden = Shape().hidden;
        const uint64_t words = Shape().vocabulary;
        const double width = static_cast<double>(hidden);
        // The last gradient of a tied embedding is that of the embedding's backward pass.
        const bool isOfEmbedding = model.tiedEmbeddings && plan.pipeline == 1;
        m_logits = {"logits",
                    Shape().tokens,
                    hidden,
                    words,
                    isOfEmbedding ? 0 : width * static_cast<double>(words),
                    model.tiedEmbeddings,
                    GatheredOperand::None,
                    Shape().boundary};
        m_head = {"prediction head", Shape().normTokens, hidden, hidden, width * (width + 1)};
    }

    SegmentSequence Forward()
    {
        Section("forward output");
        Norm("final norm");
        if (Model().predictionHead)
        {
            WriteLinearForward(*this, m_head);
            Gelu("prediction head GELU", 2);
            Norm("prediction head norm");
        }
        if (Plan().sequenceParallel)
        {
            WaitFor(
                Communicate("logits input all-gather", CollectiveOp::AllGather, Shape().boundary));
        }
        WriteLinearForward(*this, m_logits);
        Loss();
        return Take();
    }

    SegmentSequence Backward()
    {
        Section("backward output");
        LossBackward();
        WriteColumnParallelBackward(*this, m_logits);
        if (Model().predictionHead)
        {
            NormBackward("prediction head norm backward", false);
            Gelu("prediction head GELU backward", 3);
            WriteInputGradient(*this, m_head);
            WriteWeightGradient(*this, m_head);
        }
        NormBackward("final norm backward", false);
        return Take();
    }

  private:
    void Gelu(const std::string& name, double operands)
    {
        Memory(name, MemoryKernel::BiasGelu, Hidden(), operands * ElementBytes());
    }

    void Loss()
    {
        const double element = ElementBytes();
        switch (Plan().Loss())
        {
        case LossKernels::InPlace:
            OverLogits("cross entropy", MemoryKernel::CrossEntropyForward, element);
            ReducePerToken("softmax sum all-reduce");
            return;
        case LossKernels::LogSoftmax:
            if (Plan().WidthParts() > 1)
            {
                break; // DTensor's loss_parallel has the same steps as Megatron-LM
            }
            OverLogits("logits cast", MemoryKernel::Elementwise, element + FP32_BYTES);
            OverLogits("log-softmax", MemoryKernel::CrossEntropyForward, 2 * FP32_BYTES);
            return;
        case LossKernels::VocabularyParallel:
        case LossKernels::Default:
            break;
        }
        OverLogits("logits cast", MemoryKernel::Elementwise, element + FP32_BYTES);
        OverLogits("logits maximum", MemoryKernel::CrossEntropyForward, FP32_BYTES);
        ReducePerToken("logits maximum all-reduce");
        OverLogits("logits minus maximum", MemoryKernel::Elementwise, 2 * FP32_BYTES);
        ReducePerToken("predicted logit all-reduce");
        OverLogits("exponential", MemoryKernel::Elementwise, 2 * FP32_BYTES);
        OverLogits("exponential sum", MemoryKernel::CrossEntropyForward, FP32_BYTES);
        ReducePerToken("exponential sum all-reduce");
        OverLogits("softmax division", MemoryKernel::Elementwise, 2 * FP32_BYTES);
    }

    void LossBackward()
    {
        if (Plan().Loss() == LossKernels::InPlace)
        {
            OverLogits("cross entropy backward", MemoryKernel::Elementwise, 2 * ElementBytes());
            return;
        }
        // Log-softmax: its own gradient is written, then read with it, and the logits' gradient is
        // written.
        const double operands = Plan().Loss() == LossKernels::LogSoftmax ? 5 : 2;
        OverLogits(
            "cross entropy backward", MemoryKernel::CrossEntropyBackward, operands * FP32_BYTES);
        OverLogits("logits gradient cast", MemoryKernel::Elementwise, FP32_BYTES + ElementBytes());
    }

    void OverLogits(const std::string& name, MemoryKernel kernel, double bytesPerElement)
    {
        Memory(name, kernel, {Shape().tokens, Shape().vocabulary}, bytesPerElement);
    }

    void ReducePerToken(const std::string& name)
    {
        const Bytes bytes(static_cast<int64_t>(Shape().tokens * BytesOf(Precision::Fp32)));
        WaitFor(Communicate(name, CollectiveOp::AllReduce, bytes));
    }

    LinearShape m_logits;
    LinearShape m_head; //!< the prediction head's dense layer
};

} // namespace

StepSegments::StepSegments(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
    : embeddingForward(EmbeddingWriter(kernels, model, plan).Forward()),
      embeddingBackward(EmbeddingWriter(kernels, model, plan).Backward())
{
    const auto write = [&](bool hasExperts, LayerPass pass) {
        return WriteLayer(kernels, model, plan, hasExperts, pass);
    };
    const auto writeRest = [&](LayerSegments& of, bool hasExperts) {
        of.recompute = write(hasExperts, LayerPass::Recompute);
        if (plan.SplitsBackward())
        {
            of.backwardInput = write(hasExperts, LayerPass::BackwardInput);
            of.backwardWeights = write(hasExperts, LayerPass::BackwardWeights);
        }
    };
    layer.forward = write(false, LayerPass::Forward);
    layer.backward = write(false, LayerPass::Backward);
    const ParallelPlan wide = InWideFormat(plan);
    outputForward = OutputWriter(kernels, model, wide).Forward();
    outputBackward = OutputWriter(kernels, model, wide).Backward();
    writeRest(layer, false);
    if (model.HasExperts())
    {
        expertLayer.forward = write(true, LayerPass::Forward);
        expertLayer.backward = write(true, LayerPass::Backward);
        writeRest(expertLayer, true);
    }
}

double
LoadOfPasses(const std::vector<PassCount>& passes, const KernelRecords& records, const Gpu& gpu)
{
    double limited = 0; // seconds, weighted by TensorPower
    Time busy;
    Time host;
    for (const auto& [pass, times] : passes)
    {
        for (const Segment& segment : *pass)
        {
            busy += segment.kernels.duration * times;
            host += segment.kernels.host * times;
            for (uint32_t i = 0; i < segment.kernels.count; i++)
            {
                const KernelRecord& kernel = records.kernels[segment.kernels.first + i];
                limited +=
                    TensorPower(gpu, kernel.tensorBusy) * kernel.duration.ToSeconds() * times;
            }
        }
    }
    const Time total = std::max(busy, host);
    return total > Time() ? std::min(1.0, limited / total.ToSeconds()) : 0;
}

double
StepLoad(const Transformer& model, const ParallelPlan& plan, const Gpu& gpu)
{
    KernelRecords records;
    KernelTable kernels(records, KernelTimer(gpu), plan.host.kernel);
    const StepSegments segments(kernels, model, plan);
    const uint32_t withExperts = model.ExpertLayersOf(0, model.layers);
    std::vector<PassCount> passes;
    for (const bool hasExperts : {false, true})
    {
        const uint32_t layers = hasExperts ? withExperts : model.layers - withExperts;
        const LayerSegments& layer = segments.Layer(hasExperts);
        for (const SegmentSequence* pass : {&layer.forward, &layer.recompute, &layer.backward})
        {
            passes.emplace_back(pass, layers);
        }
    }
    return LoadOfPasses(passes, records, gpu);
}

Gpu
UnderLoad(const Gpu& gpu, double load)
{
    Gpu warm = gpu;
    warm.sustainedClockHz =
        load > 0 ? std::min(gpu.burstTensorClockHz, gpu.sustainedClockHz / std::cbrt(load))
                 : gpu.burstTensorClockHz;
    return warm;
}

} // namespace weir
