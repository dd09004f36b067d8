// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/gradient-accumulation.h"

namespace weir
{

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
WriteGradientAdd(SegmentWriter& writer, const std::string& name, uint64_t rows, uint64_t columns)
{
    const ParallelPlan& plan = writer.Plan();
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
WriteGradientGemm(SegmentWriter& writer, const std::string& name, GemmShape gemm)
{
    const ParallelPlan& plan = writer.Plan();
    if (plan.fusion != KernelFusion::Kernels || plan.Sharded() == ShardedState::Full ||
        KeepsGradientParts(plan))
    {
        writer.Gemm(name, gemm);
        WriteGradientAdd(writer, name, gemm.batch * gemm.m, gemm.n);
        return;
    }
    gemm.accumulateFp32 = IsWidened(plan);
    gemm.accumulate = !gemm.accumulateFp32;
    writer.Gemm(name, gemm);
}

} // namespace weir
