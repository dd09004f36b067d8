// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/linear-kernels.h"

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

constexpr double WIDE = 2;   // bytes of an element before it is turned to fp8
constexpr double NARROW = 1; // bytes of an element in fp8

/**
 * An operand turned to fp8: read in 16 bits and written in 8 so many times (Transformer Engine's
 * cast with scales of steps before); without that library's kernels it is first read for its
 * largest value (torchao's dynamic scaling).
 */
void
WriteFp8Cast(SegmentWriter& writer,
             const std::string& name,
             uint64_t rows,
             uint64_t columns,
             uint32_t copies,
             const ParallelPlan& plan)
{
    if (plan.precision != Precision::Fp8)
    {
        return;
    }
    if (plan.fusion != KernelFusion::Kernels)
    {
        writer.Memory(name + " maximum", MemoryKernel::Reduction, rows, columns, WIDE);
    }
    writer.Memory(
        name + " to fp8", MemoryKernel::Elementwise, rows, columns, WIDE + copies * NARROW);
}

/** With its transpose, which the backward pass takes. */
void
WriteFp8CastTranspose(SegmentWriter& writer,
                      const std::string& name,
                      uint64_t rows,
                      uint64_t columns,
                      const ParallelPlan& plan)
{
    constexpr uint32_t COPIES = 2;
    WriteFp8Cast(writer, name, rows, columns, COPIES, plan);
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
    if (plan.precision != Precision::Fp8 || !plan.sequenceParallel ||
        linear.gathered == GatheredOperand::None)
    {
        return;
    }
    const bool isInput = linear.gathered == GatheredOperand::Input;
    writer.Memory(GatheredName(linear) + " transpose",
                  MemoryKernel::Elementwise,
                  linear.rows,
                  isInput ? linear.in : linear.out,
                  2 * NARROW);
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

} // namespace

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
                 1,
                 plan);
}

void
WriteLinearForward(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (plan.grid.side > 1)
    {
        WriteSummaForward(writer, linear, plan);
        return;
    }
    if (!IsGathered(linear, GatheredOperand::Input, plan))
    {
        WriteFp8CastTranspose(writer, linear.name + " input", linear.rows, linear.in, plan);
    }
    WriteFp8CastTranspose(writer, linear.name + " weight", linear.out, linear.in, plan);
    writer.Gemm(linear.name, Gemm(linear.rows, linear.out, linear.in, GemmLayout::Tn, plan));
}

void
WriteInputGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (plan.grid.side > 1)
    {
        WriteSummaInputGradient(writer, linear, plan);
        return;
    }
    if (!IsGathered(linear, GatheredOperand::OutputGradient, plan))
    {
        WriteFp8CastTranspose(
            writer, linear.name + " output gradient", linear.rows, linear.out, plan);
    }
    writer.Gemm(linear.name + " input gradient",
                Gemm(linear.rows, linear.in, linear.out, GemmLayout::Nn, plan));
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
    GemmShape gemm = Gemm(linear.out, linear.in, linear.rows, GemmLayout::Nt, plan);
    gemm.accumulateFp32 = plan.fp32Gradients && plan.Sharded() != ShardedState::Full;
    writer.Gemm(linear.name + " weight gradient", gemm);
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
