// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/embedding-kernels.h"

#include "compute-model/layers/gradient-add.h"
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

/** Under full sharding the gradient itself is what the unit's reduction takes. */
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

/** Zeroes a dense gradient of rows x columns, and later adds it to the gradient buffer. */
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

/** One rank's words on their way along its column. */
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

/** The words of one row after the other, the next ones on their way where the plan overlaps. */
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
    int32_t before = Segment::NOTHING; // the reduction that the next gradient's buffer is in
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

/** Megatron-LM's: each rank's words for all tokens, then summed over ranks. */
void
LookUpInRow(SegmentWriter& writer, const RankShape& shape, const ParallelPlan& plan)
{
    LookUpWords(writer, shape, plan);
    writer.WaitFor(
        plan.sequenceParallel
            ? writer.Communicate(
                  "embedding reduce-scatter", CollectiveOp::ReduceScatter, shape.boundary)
            : writer.Communicate("embedding all-reduce", CollectiveOp::AllReduce, shape.boundary));
}

} // namespace

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

} // namespace weir
