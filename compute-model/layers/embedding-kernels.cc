// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/embedding-kernels.h"

#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

/** Zeroes a dense gradient of rows x columns, and later adds it to the gradient buffer. */
void
WriteDenseGradient(SegmentWriter& writer,
                   const ParallelPlan& plan,
                   const std::string& name,
                   uint64_t rows,
                   uint64_t columns)
{
    const double element = ActivationBytes(plan.precision);
    if (plan.Sharded() == ShardedState::Full)
    {
        // The gradient itself is what the unit's reduction takes.
        writer.Memory(name + " gradient zero", MemoryKernel::Fill, rows, columns, element);
        writer.GradientsReady(static_cast<double>(rows) * static_cast<double>(columns));
        return;
    }
    const double gradient = plan.fp32Gradients ? BytesOf(Precision::Fp32) : element;
    writer.Memory(name + " gradient zero", MemoryKernel::Fill, rows, columns, element);
    writer.Memory(name + " gradient accumulate",
                  MemoryKernel::Elementwise,
                  rows,
                  columns,
                  element + 2 * gradient);
    writer.GradientsReady(static_cast<double>(rows) * static_cast<double>(columns));
}

} // namespace

SegmentSequence
EmbeddingForward(KernelTable& kernels, const Transformer& model, const ParallelPlan& plan)
{
    const RankShape shape(model, plan);
    const double element = ActivationBytes(plan.precision);
    SegmentWriter writer(kernels, plan);
    writer.Section("forward embedding");
    writer.Memory(
        "word embedding", MemoryKernel::EmbeddingForward, shape.tokens, shape.hidden, 2 * element);
    if (plan.tensor > 1)
    {
        // Words of other ranks are looked up as word 0 and then zeroed.
        writer.Memory(
            "foreign words zero", MemoryKernel::Fill, shape.tokens, shape.hidden, element);
    }
    writer.WaitFor(
        plan.sequenceParallel
            ? writer.Communicate(
                  "embedding reduce-scatter", CollectiveOp::ReduceScatter, shape.boundary)
            : writer.Communicate("embedding all-reduce", CollectiveOp::AllReduce, shape.boundary));
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
    writer.Memory("word embedding backward",
                  MemoryKernel::EmbeddingBackward,
                  shape.tokens,
                  shape.hidden,
                  2 * element);
    WriteDenseGradient(writer, plan, "word", shape.vocabulary, shape.hidden);
    return writer.Take();
}

} // namespace weir
