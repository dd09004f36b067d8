// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/linear-kernels.h"

#include "compute-model/layers/summa-gemm.h"

namespace weir
{

namespace
{

constexpr double WIDE = 2;   // bytes of an element before the cast to fp8
constexpr double NARROW = 1; // bytes of an element in fp8

/** Whether operands are scaled by their own maximum, which is found first (torchao). */
bool
ScalesByMaximum(const ParallelPlan& plan)
{
    return plan.fusion != KernelFusion::Kernels;
}

void
WriteFp8Kernel(SegmentWriter& writer,
               const std::string& name,
               const MatrixSize& size,
               uint32_t copies)
{
    writer.Memory(name + " to fp8", MemoryKernel::Elementwise, size, WIDE + copies * NARROW);
}

/** Whether gradients are kept in a wider precision than weights. */
bool
IsWidened(const ParallelPlan& plan)
{
    return plan.fp32Gradients && ActivationBytes(plan.precision) < FP32_BYTES;
}

/** Whether an operand of @p linear is gathered from several tensor ranks. */
bool
IsGathered(const LinearShape& linear, const ParallelPlan& plan)
{
    return plan.sequenceParallel && plan.tensor > 1 && linear.gathered != GatheredOperand::None;
}

/** Whether @p operand of @p linear is gathered from several tensor ranks. */
bool
IsGathered(const LinearShape& linear, GatheredOperand operand, const ParallelPlan& plan)
{
    return IsGathered(linear, plan) && linear.gathered == operand;
}

/** Name of the operand that tensor ranks gather: "QKV input". */
std::string
GatheredName(const LinearShape& linear)
{
    return linear.name +
           (linear.gathered == GatheredOperand::Input ? " input" : " output gradient");
}

/** Columns of the operand that tensor ranks gather. */
uint64_t
GatheredColumns(const LinearShape& linear)
{
    return linear.gathered == GatheredOperand::Input ? linear.in : linear.out;
}

/**
 * Bytes that tensor ranks gather of a GEMM operand: fp8 operands are cast before the gather
 * (Transformer Engine; torchao's float8 tensor parallelism).
 */
Bytes
GatheredBytes(const LinearShape& linear, const ParallelPlan& plan)
{
    return plan.precision == Precision::Fp8 ? linear.whole / ActivationBytes(plan.precision)
                                            : linear.whole;
}

int32_t
WriteInputGather(SegmentWriter& writer, const LinearShape& linear)
{
    return writer.Communicate(linear.name + " input all-gather",
                              CollectiveOp::AllGather,
                              GatheredBytes(linear, writer.Plan()));
}

/** Group of the tensor communications that overlap split GEMMs. */
SegmentGroup
SplitGemmGroup(const ParallelPlan& plan)
{
    SegmentGroup group = TokenGroup(plan);
    group.byCopyEngine = true;
    return group;
}

/** Pieces @p first to @p end - 1 of a GEMM whose rows are split over tensor ranks. */
void
WritePieces(
    SegmentWriter& writer, const std::string& name, GemmShape gemm, uint32_t first, uint32_t end)
{
    gemm.m /= writer.Plan().tensor;
    for (uint32_t piece = first; piece < end; piece++)
    {
        writer.Gemm(name, gemm);
    }
}

/** A GEMM whose rows may still be in flight. */
void
WriteGatheredGemm(SegmentWriter& writer,
                  const std::string& name,
                  const GemmShape& gemm,
                  int32_t gathered)
{
    if (gathered == Segment::NOTHING)
    {
        writer.Gemm(name, gemm);
        return;
    }
    const uint32_t pieces = writer.Plan().tensor;
    WritePieces(writer, name, gemm, 0, pieces - 1);
    writer.WaitFor(gathered);
    WritePieces(writer, name, gemm, pieces - 1, pieces);
}

/**
 * Whether the GEMM of a gathered operand overlaps the gather: in T pieces over T ranks, the last of
 * which waits for the whole gather. Transformer Engine processes pieces in the order of their
 * arrival. If a piece takes c to gather and g to multiply, both take g + (T - 1) max(c, g).
 */
bool
SplitsGemms(const LinearShape& linear, const ParallelPlan& plan)
{
    return linear.splits && plan.splitGemms && plan.overlapTensor && IsGathered(linear, plan);
}

/** The fp8 casts of y = x W^T. */
void
WriteForwardCasts(SegmentWriter& writer, const LinearShape& linear)
{
    if (!IsGathered(linear, GatheredOperand::Input, writer.Plan()))
    {
        WriteFp8Cast(
            writer, linear.name + " input", {linear.rows, linear.in}, Fp8Use::NowAndBackward);
    }
    WriteFp8Cast(writer, linear.name + " weight", {linear.out, linear.in}, Fp8Use::NowAndBackward);
}

} // namespace

void
WriteFp8Cast(SegmentWriter& writer, const std::string& name, const MatrixSize& size, Fp8Use use)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.precision != Precision::Fp8)
    {
        return;
    }
    if (ScalesByMaximum(plan))
    {
        writer.Memory(name + " maximum", MemoryKernel::Reduction, size, WIDE);
    }
    const bool isTwice =
        use == Fp8Use::Twice || (use == Fp8Use::NowAndBackward && !ScalesByMaximum(plan));
    WriteFp8Kernel(writer, name, size, isTwice ? 2 : 1);
}

void
WriteFp8Recast(SegmentWriter& writer, const std::string& name, const MatrixSize& size)
{
    if (writer.Plan().precision == Precision::Fp8 && ScalesByMaximum(writer.Plan()))
    {
        WriteFp8Kernel(writer, name, size, 1);
    }
}

void
WriteGradientAdd(SegmentWriter& writer, const std::string& name, const MatrixSize& size)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.Sharded() == ShardedState::Full)
    {
        return;
    }
    const double element = writer.ElementBytes();
    const double kept = IsWidened(plan) ? FP32_BYTES : element;
    if (KeepsGradientParts(plan))
    {
        writer.Memory(name + " to bucket", MemoryKernel::Elementwise, size, element + kept);
        return;
    }
    double bytes = element + 2 * kept;
    if (plan.fusion != KernelFusion::Kernels)
    {
        const double passes = plan.MicroBatches();
        bytes = (IsWidened(plan) ? element + kept : 0) + 3 * kept * (passes - 1) / passes;
    }
    if (bytes > 0)
    {
        writer.Memory(name + " accumulate", MemoryKernel::Elementwise, size, bytes);
    }
}

void
WriteGradientGemm(SegmentWriter& writer, const std::string& name, GemmShape gemm)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.fusion != KernelFusion::Kernels || plan.Sharded() == ShardedState::Full ||
        KeepsGradientParts(plan))
    {
        writer.Gemm(name, gemm);
        WriteGradientAdd(writer, name, {gemm.batch * gemm.m, gemm.n});
        return;
    }
    gemm.accumulateFp32 = IsWidened(plan);
    gemm.accumulate = !gemm.accumulateFp32;
    writer.Gemm(name, gemm);
}

int32_t
WriteGather(SegmentWriter& writer, const LinearShape& linear)
{
    const ParallelPlan& plan = writer.Plan();
    if (IsGathered(linear, plan))
    {
        WriteFp8Cast(writer,
                     GatheredName(linear),
                     {linear.rows / plan.tensor, GatheredColumns(linear)},
                     Fp8Use::Once);
    }
    if (!plan.sequenceParallel)
    {
        return Segment::NOTHING;
    }
    const std::string name = GatheredName(linear) + " all-gather";
    const Bytes bytes = GatheredBytes(linear, plan);
    if (SplitsGemms(linear, plan))
    {
        return writer.CommunicateIn(SplitGemmGroup(plan), name, CollectiveOp::AllGather, bytes);
    }
    writer.WaitFor(writer.Communicate(name, CollectiveOp::AllGather, bytes));
    return Segment::NOTHING;
}

int32_t
WriteTensorSum(SegmentWriter& writer, const std::string& name, Bytes whole)
{
    return writer.Plan().sequenceParallel
               ? writer.Communicate(name + " reduce-scatter", CollectiveOp::ReduceScatter, whole)
               : writer.Communicate(name + " all-reduce", CollectiveOp::AllReduce, whole);
}

void
WriteLinearForward(SegmentWriter& writer, const LinearShape& linear, int32_t gathered)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.grid.side > 1)
    {
        WriteSummaForward(writer, linear);
        return;
    }
    WriteForwardCasts(writer, linear);
    WriteGatheredGemm(writer, linear.name, linear.ForwardGemm(plan.precision), gathered);
}

void
WriteRowParallelForward(SegmentWriter& writer, const LinearShape& linear)
{
    const ParallelPlan& plan = writer.Plan();
    const std::string output = linear.name + " output";
    if (SplitsGemms(linear, plan))
    {
        WriteForwardCasts(writer, linear);
        const GemmShape gemm = linear.ForwardGemm(plan.precision);
        WritePieces(writer, linear.name, gemm, 0, 1);
        const int32_t scattered = writer.CommunicateIn(SplitGemmGroup(plan),
                                                       output + " reduce-scatter",
                                                       CollectiveOp::ReduceScatter,
                                                       linear.whole);
        WritePieces(writer, linear.name, gemm, 1, plan.tensor);
        writer.WaitFor(scattered);
        return;
    }
    WriteLinearForward(writer, linear);
    if (!plan.HasGrid())
    {
        writer.WaitFor(WriteTensorSum(writer, output, linear.whole));
    }
}

void
WriteInputGradient(SegmentWriter& writer, const LinearShape& linear, int32_t gathered)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.grid.side > 1)
    {
        WriteSummaInputGradient(writer, linear);
        return;
    }
    if (!IsGathered(linear, GatheredOperand::OutputGradient, plan))
    {
        WriteFp8Cast(
            writer, linear.name + " output gradient", {linear.rows, linear.out}, Fp8Use::Twice);
    }
    WriteFp8Recast(writer, linear.name + " weight transposed", {linear.out, linear.in});
    WriteGatheredGemm(writer,
                      linear.name + " input gradient",
                      linear.InputGradientGemm(plan.precision),
                      gathered);
}

void
WriteWeightGradient(SegmentWriter& writer, const LinearShape& linear)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.grid.side > 1)
    {
        WriteSummaWeightGradient(writer, linear);
        return;
    }
    if (IsGathered(linear, plan) && plan.precision == Precision::Fp8)
    {
        // Gathered rows were cast in one orientation only.
        writer.Memory(GatheredName(linear) + " transpose",
                      MemoryKernel::Elementwise,
                      {linear.rows, GatheredColumns(linear)},
                      2 * NARROW);
    }
    if (!IsGathered(linear, GatheredOperand::Input, plan))
    {
        WriteFp8Recast(writer, linear.name + " input transposed", {linear.rows, linear.in});
    }
    WriteGradientGemm(
        writer, linear.name + " weight gradient", linear.WeightGradientGemm(plan.precision));
    writer.GradientsReady(linear.parameters);
}

void
WriteDeferredWeightGradient(SegmentWriter& writer, const LinearShape& linear)
{
    if (writer.Plan().sequenceParallel && linear.gathered == GatheredOperand::Input)
    {
        writer.WaitFor(WriteInputGather(writer, linear));
    }
    WriteWeightGradient(writer, linear);
}

void
WriteColumnParallelBackward(SegmentWriter& writer,
                            const LinearShape& linear,
                            bool defersWeightGradient)
{
    const ParallelPlan& plan = writer.Plan();
    int32_t gathered = Segment::NOTHING;
    if (plan.sequenceParallel && !defersWeightGradient)
    {
        gathered = WriteInputGather(writer, linear);
    }
    WriteInputGradient(writer, linear);
    // A SUMMA GEMM has summed it.
    const int32_t reduced =
        plan.HasGrid() ? Segment::NOTHING
                       : WriteTensorSum(writer, linear.name + " input gradient", linear.whole);
    if (!defersWeightGradient)
    {
        writer.WaitFor(gathered);
        WriteWeightGradient(writer, linear);
    }
    writer.WaitFor(reduced);
}

} // namespace weir
