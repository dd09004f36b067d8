// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/mixed-precision.h"

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
               uint64_t rows,
               uint64_t columns,
               uint32_t copies)
{
    writer.Memory(
        name + " to fp8", MemoryKernel::Elementwise, rows, columns, WIDE + copies * NARROW);
}

} // namespace

void
WriteFp8Cast(SegmentWriter& writer,
             const std::string& name,
             uint64_t rows,
             uint64_t columns,
             Fp8Use use,
             const ParallelPlan& plan)
{
    if (plan.precision != Precision::Fp8)
    {
        return;
    }
    const bool isTwice =
        use == Fp8Use::Twice || (use == Fp8Use::NowAndBackward && !ScalesByMaximum(plan));
    if (ScalesByMaximum(plan))
    {
        writer.Memory(name + " maximum", MemoryKernel::Reduction, rows, columns, WIDE);
    }
    WriteFp8Kernel(writer, name, rows, columns, isTwice ? 2 : 1);
}

void
WriteFp8Recast(SegmentWriter& writer,
               const std::string& name,
               uint64_t rows,
               uint64_t columns,
               const ParallelPlan& plan)
{
    if (plan.precision == Precision::Fp8 && ScalesByMaximum(plan))
    {
        WriteFp8Kernel(writer, name, rows, columns, 1);
    }
}

void
WriteFp8Transpose(SegmentWriter& writer,
                  const std::string& name,
                  uint64_t rows,
                  uint64_t columns,
                  const ParallelPlan& plan)
{
    if (plan.precision == Precision::Fp8)
    {
        writer.Memory(name + " transpose", MemoryKernel::Elementwise, rows, columns, 2 * NARROW);
    }
}

namespace
{

/** Whether gradients are kept in a wider precision than weights. */
bool
IsWidened(const ParallelPlan& plan)
{
    return plan.fp32Gradients && ActivationBytes(plan.precision) < FP32_BYTES;
}

} // namespace

void
WriteGradientAdd(SegmentWriter& writer,
                 const ParallelPlan& plan,
                 const std::string& name,
                 uint64_t rows,
                 uint64_t columns)
{
    if (plan.Sharded() == ShardedState::Full)
    {
        return;
    }
    const double element = ActivationBytes(plan.precision);
    const double kept = IsWidened(plan) ? FP32_BYTES : element;
    if (KeepsGradientParts(plan))
    {
        writer.Memory(
            name + " to bucket", MemoryKernel::Elementwise, rows, columns, element + kept);
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
        writer.Memory(name + " accumulate", MemoryKernel::Elementwise, rows, columns, bytes);
    }
}

void
WriteGradientGemm(SegmentWriter& writer,
                  const ParallelPlan& plan,
                  const std::string& name,
                  GemmShape gemm)
{
    if (plan.fusion != KernelFusion::Kernels || plan.Sharded() == ShardedState::Full ||
        KeepsGradientParts(plan))
    {
        writer.Gemm(name, gemm);
        WriteGradientAdd(writer, plan, name, gemm.batch * gemm.m, gemm.n);
        return;
    }
    gemm.accumulateFp32 = IsWidened(plan);
    gemm.accumulate = !gemm.accumulateFp32;
    writer.Gemm(name, gemm);
}

} // namespace weir
