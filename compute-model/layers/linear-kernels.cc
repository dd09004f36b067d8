// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/linear-kernels.h"

#include "compute-model/layers/fp8-operands.h"
#include "compute-model/layers/gradient-add.h"
#include "compute-model/layers/summa-kernels.h"

namespace weir
{

namespace
{

GemmShape
Gemm(uint64_t m, uint64_t n, uint64_t k, GemmLayout layout, const ParallelPlan& plan)
{
    GemmShape gemm;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.precision = plan.precision;
    gemm.layout = layout;
    return gemm;
}

/** Whether @p operand of @p linear comes from all tensor ranks. */
bool
IsGathered(const LinearShape& linear, GatheredOperand operand, const ParallelPlan& plan)
{
    return plan.sequenceParallel && linear.gathered == operand;
}

/** Gathered rows were turned to fp8 one way only. */
void
TransposeGathered(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (!plan.sequenceParallel || linear.gathered == GatheredOperand::None)
    {
        return;
    }
    const bool isInput = linear.gathered == GatheredOperand::Input;
    WriteFp8Transpose(
        writer, GatheredName(linear), linear.rows, isInput ? linear.in : linear.out, plan);
}

/** Sums a column-parallel layer's input gradient over the tensor ranks. */
int32_t
WriteInputReduction(SegmentWriter& writer,
                    const LinearShape& linear,
                    const ParallelPlan& plan,
                    Bytes input)
{
    if (plan.HasGrid())
    {
        return Segment::NOTHING; // its product has summed it
    }
    return plan.sequenceParallel
               ? writer.Communicate(linear.name + " input gradient reduce-scatter",
                                    CollectiveOp::ReduceScatter,
                                    input)
               : writer.Communicate(
                     linear.name + " input gradient all-reduce", CollectiveOp::AllReduce, input);
}

/** The tensor group's communications beside products that are split. */
SegmentGroup
BesideProducts(const ParallelPlan& plan)
{
    SegmentGroup group = TokenGroup(plan);
    group.byCopyEngine = true;
    return group;
}

/** Pieces from the @p first on of a product whose rows are split over tensor ranks. */
void
WritePieces(SegmentWriter& writer,
            const std::string& name,
            GemmShape gemm,
            uint32_t first,
            uint32_t end,
            const ParallelPlan& plan)
{
    gemm.m /= plan.tensor;
    for (uint32_t piece = first; piece < end; piece++)
    {
        writer.Gemm(name, gemm);
    }
}

/** A product of rows that may still be under way. */
void
WriteGatheredProduct(SegmentWriter& writer,
                     const std::string& name,
                     const GemmShape& gemm,
                     int32_t gathered,
                     const ParallelPlan& plan)
{
    if (gathered == Segment::NOTHING)
    {
        writer.Gemm(name, gemm);
        return;
    }
    WritePieces(writer, name, gemm, 0, plan.tensor - 1, plan);
    writer.WaitFor(gathered);
    WritePieces(writer, name, gemm, plan.tensor - 1, plan.tensor, plan);
}

/**
 * Whether the product that takes the gathered operand goes beside the gather: in T pieces over T
 * ranks, the last of which waits for all of it. Transformer Engine takes pieces in the order in
 * which they come; with c for the gather of one and g for its product both take
 * g + (T - 1) max(c, g).
 */
bool
SplitsProducts(const LinearShape& linear, const ParallelPlan& plan)
{
    return plan.splitProducts && plan.overlapTensor && plan.sequenceParallel && plan.tensor > 1 &&
           linear.gathered != GatheredOperand::None;
}

} // namespace

int32_t
WriteGather(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan, Bytes whole)
{
    WriteGatheredCast(writer, linear, plan);
    if (!plan.sequenceParallel)
    {
        return Segment::NOTHING;
    }
    const std::string name = GatheredName(linear) + " all-gather";
    const Bytes bytes = GatheredBytes(whole, plan);
    if (SplitsProducts(linear, plan))
    {
        return writer.CommunicateIn(BesideProducts(plan), name, CollectiveOp::AllGather, bytes);
    }
    writer.WaitFor(writer.Communicate(name, CollectiveOp::AllGather, bytes));
    return Segment::NOTHING;
}

Bytes
GatheredBytes(Bytes bytes, const ParallelPlan& plan)
{
    return plan.precision == Precision::Fp8 ? bytes / ActivationBytes(plan.precision) : bytes;
}

std::string
GatheredName(const LinearShape& linear)
{
    return linear.name +
           (linear.gathered == GatheredOperand::Input ? " input" : " output gradient");
}

void
WriteGatheredCast(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (!plan.sequenceParallel || linear.gathered == GatheredOperand::None)
    {
        return;
    }
    const bool isInput = linear.gathered == GatheredOperand::Input;
    WriteFp8Cast(writer,
                 GatheredName(linear),
                 linear.rows / plan.tensor,
                 isInput ? linear.in : linear.out,
                 Fp8Use::Once,
                 plan);
}

namespace
{

/** Of y = x W^T all but the product. */
void
WriteForwardCasts(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (!IsGathered(linear, GatheredOperand::Input, plan))
    {
        WriteFp8Cast(
            writer, linear.name + " input", linear.rows, linear.in, Fp8Use::NowAndBackward, plan);
    }
    WriteFp8Cast(
        writer, linear.name + " weight", linear.out, linear.in, Fp8Use::NowAndBackward, plan);
}

GemmShape
ForwardGemm(const LinearShape& linear, const ParallelPlan& plan)
{
    return Gemm(linear.rows, linear.out, linear.in, GemmLayout::Tn, plan);
}

} // namespace

void
WriteLinearForward(SegmentWriter& writer,
                   const LinearShape& linear,
                   const ParallelPlan& plan,
                   int32_t gathered)
{
    if (plan.grid.side > 1)
    {
        WriteSummaForward(writer, linear, plan);
        return;
    }
    WriteForwardCasts(writer, linear, plan);
    WriteGatheredProduct(writer, linear.name, ForwardGemm(linear, plan), gathered, plan);
}

void
WriteRowParallelForward(SegmentWriter& writer,
                        const LinearShape& linear,
                        const ParallelPlan& plan,
                        Bytes whole)
{
    const std::string output = linear.name + " output";
    if (SplitsProducts(linear, plan))
    {
        WriteForwardCasts(writer, linear, plan);
        const GemmShape gemm = ForwardGemm(linear, plan);
        WritePieces(writer, linear.name, gemm, 0, 1, plan);
        const int32_t scattered = writer.CommunicateIn(
            BesideProducts(plan), output + " reduce-scatter", CollectiveOp::ReduceScatter, whole);
        WritePieces(writer, linear.name, gemm, 1, plan.tensor, plan);
        writer.WaitFor(scattered);
        return;
    }
    WriteLinearForward(writer, linear, plan);
    if (plan.HasGrid())
    {
        return;
    }
    writer.WaitFor(
        plan.sequenceParallel
            ? writer.Communicate(output + " reduce-scatter", CollectiveOp::ReduceScatter, whole)
            : writer.Communicate(output + " all-reduce", CollectiveOp::AllReduce, whole));
}

void
WriteInputGradient(SegmentWriter& writer,
                   const LinearShape& linear,
                   const ParallelPlan& plan,
                   int32_t gathered)
{
    if (plan.grid.side > 1)
    {
        WriteSummaInputGradient(writer, linear, plan);
        return;
    }
    if (!IsGathered(linear, GatheredOperand::OutputGradient, plan))
    {
        WriteFp8Cast(
            writer, linear.name + " output gradient", linear.rows, linear.out, Fp8Use::Twice, plan);
    }
    WriteFp8Recast(writer, linear.name + " weight transposed", linear.out, linear.in, plan);
    WriteGatheredProduct(writer,
                         linear.name + " input gradient",
                         Gemm(linear.rows, linear.in, linear.out, GemmLayout::Nn, plan),
                         gathered,
                         plan);
}

void
WriteWeightGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (plan.grid.side > 1)
    {
        WriteSummaWeightGradient(writer, linear, plan);
        return;
    }
    TransposeGathered(writer, linear, plan);
    if (!IsGathered(linear, GatheredOperand::Input, plan))
    {
        WriteFp8Recast(writer, linear.name + " input transposed", linear.rows, linear.in, plan);
    }
    GemmShape gemm = Gemm(linear.out, linear.in, linear.rows, GemmLayout::Nt, plan);
    WriteGradientProduct(writer, plan, linear.name + " weight gradient", gemm);
    writer.GradientsReady(linear.parameters);
}

void
WriteColumnParallelBackward(SegmentWriter& writer,
                            const LinearShape& linear,
                            const ParallelPlan& plan,
                            Bytes input)
{
    int32_t gathered = Segment::NOTHING;
    if (plan.sequenceParallel)
    {
        gathered = writer.Communicate(
            linear.name + " input all-gather", CollectiveOp::AllGather, GatheredBytes(input, plan));
    }
    WriteInputGradient(writer, linear, plan);
    const int32_t reduced = WriteInputReduction(writer, linear, plan, input);
    writer.WaitFor(gathered);
    WriteWeightGradient(writer, linear, plan);
    writer.WaitFor(reduced);
}

void
WriteColumnParallelInputGradient(SegmentWriter& writer,
                                 const LinearShape& linear,
                                 const ParallelPlan& plan,
                                 Bytes input)
{
    WriteInputGradient(writer, linear, plan);
    writer.WaitFor(WriteInputReduction(writer, linear, plan, input));
}

} // namespace weir
