// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/linear-kernels.h"

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

} // namespace

void
WriteLinearForward(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    writer.Gemm(linear.name, Gemm(linear.rows, linear.out, linear.in, GemmLayout::Tn, plan));
}

void
WriteInputGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    writer.Gemm(linear.name + " input gradient",
                Gemm(linear.rows, linear.in, linear.out, GemmLayout::Nn, plan));
}

void
WriteWeightGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    GemmShape gemm = Gemm(linear.out, linear.in, linear.rows, GemmLayout::Nt, plan);
    gemm.accumulateFp32 = plan.fp32Gradients;
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
        gathered =
            writer.Communicate(linear.name + " input all-gather", CollectiveOp::AllGather, input);
    }
    WriteInputGradient(writer, linear, plan);
    const int32_t reduced = plan.sequenceParallel
                                ? writer.Communicate(linear.name + " input gradient reduce-scatter",
                                                     CollectiveOp::ReduceScatter,
                                                     input)
                                : writer.Communicate(linear.name + " input gradient all-reduce",
                                                     CollectiveOp::AllReduce,
                                                     input);
    writer.WaitFor(gathered);
    WriteWeightGradient(writer, linear, plan);
    writer.WaitFor(reduced);
}

} // namespace weir
