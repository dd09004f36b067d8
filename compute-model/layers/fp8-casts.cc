// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/fp8-casts.h"

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
WriteFp8Cast(
    SegmentWriter& writer, const std::string& name, uint64_t rows, uint64_t columns, Fp8Use use)
{
    const ParallelPlan& plan = writer.Plan();
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
WriteFp8Recast(SegmentWriter& writer, const std::string& name, uint64_t rows, uint64_t columns)
{
    if (writer.Plan().precision == Precision::Fp8 && ScalesByMaximum(writer.Plan()))
    {
        WriteFp8Kernel(writer, name, rows, columns, 1);
    }
}

void
WriteFp8Transpose(SegmentWriter& writer, const std::string& name, uint64_t rows, uint64_t columns)
{
    if (writer.Plan().precision == Precision::Fp8)
    {
        writer.Memory(name + " transpose", MemoryKernel::Elementwise, rows, columns, 2 * NARROW);
    }
}

} // namespace weir
