// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/attention-kernels.h"

#include "compute-model/layers/context-attention.h"

#include <string>
#include <utility>

namespace weir
{

namespace
{

constexpr double FP32 = 4; // bytes

/** Q K^T and P V are batched over samples and heads. */
GemmShape
Batched(uint64_t m,
        uint64_t n,
        uint64_t k,
        GemmLayout layout,
        const RankShape& shape,
        const ParallelPlan& plan)
{
    GemmShape gemm;
    gemm.m = m;
    gemm.n = n;
    gemm.k = k;
    gemm.batch = plan.microBatch * shape.heads;
    gemm.precision = plan.precision == Precision::Fp8 ? Precision::Bf16 : plan.precision;
    gemm.layout = layout;
    return gemm;
}

AttentionShape
Flash(const Transformer& model, const ParallelPlan& plan, const RankShape& shape)
{
    AttentionShape attention;
    attention.batch = plan.microBatch;
    attention.heads = shape.heads;
    attention.kvHeads = shape.kvHeads;
    attention.sequence = model.sequence;
    attention.headDim = model.headDim;
    attention.speed = plan.attentionSpeed;
    attention.causal = model.causal;
    attention.precision = plan.precision == Precision::Fp8 ? Precision::Bf16 : plan.precision;
    return attention;
}

/**
 * Whether the fused softmax takes these scores: it works on four rows of one position at a time
 * (megatron/fused_kernels, scaled_upper_triang_masked_softmax; is_kernel_available in
 * megatron/model/fused_softmax.py).
 */
bool
HasFusedSoftmax(const Transformer& model, const ParallelPlan& plan, const RankShape& shape)
{
    constexpr uint64_t ROWS_AT_ONCE = 4;
    return plan.microBatch * shape.heads % ROWS_AT_ONCE == 0 && model.sequence % ROWS_AT_ONCE == 0;
}

/** Scale, mask and softmax: one kernel, or PyTorch's own in fp32 where the fused one is not for. */
void
WriteSoftmax(SegmentWriter& writer,
             const Transformer& model,
             const ParallelPlan& plan,
             const RankShape& shape)
{
    const uint64_t s = model.sequence;
    const uint64_t rows = plan.microBatch * shape.heads * s;
    const double e = ActivationBytes(plan.precision);
    if (HasFusedSoftmax(model, plan, shape))
    {
        writer.Memory("scale mask softmax", MemoryKernel::SoftmaxForward, rows, s, 1.5 * e);
        return;
    }
    writer.Memory("scores cast", MemoryKernel::CastToFp32, rows, s, e + FP32);
    writer.Memory("scale", MemoryKernel::Elementwise, rows, s, 2 * FP32);
    writer.Memory("mask", MemoryKernel::Elementwise, rows, s, 2 * FP32 + 1);
    writer.Memory("softmax", MemoryKernel::SoftmaxForward, rows, s, 2 * FP32);
    writer.Memory("probabilities cast", MemoryKernel::Elementwise, rows, s, FP32 + e);
}

void
WriteSoftmaxBackward(SegmentWriter& writer,
                     const Transformer& model,
                     const ParallelPlan& plan,
                     const RankShape& shape)
{
    const uint64_t s = model.sequence;
    const uint64_t rows = plan.microBatch * shape.heads * s;
    const double e = ActivationBytes(plan.precision);
    if (HasFusedSoftmax(model, plan, shape))
    {
        writer.Memory("scale mask softmax backward", MemoryKernel::SoftmaxBackward, rows, s, 2 * e);
        return;
    }
    writer.Memory("probabilities cast backward", MemoryKernel::CastToFp32, rows, s, e + FP32);
    writer.Memory("softmax backward", MemoryKernel::SoftmaxBackward, rows, s, 3 * FP32);
    writer.Memory("mask backward", MemoryKernel::Elementwise, rows, s, 2 * FP32 + 1);
    writer.Memory("scale backward", MemoryKernel::Elementwise, rows, s, 2 * FP32);
    writer.Memory("scores cast backward", MemoryKernel::Elementwise, rows, s, FP32 + e);
}

} // namespace

void
WriteAttentionForward(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan)
{
    if (plan.context > 1)
    {
        WriteContextForward(writer, model, plan);
        return;
    }
    const RankShape shape(model, plan);
    const uint64_t s = model.sequence;
    const uint64_t d = model.headDim;
    const double e = ActivationBytes(plan.precision);
    if (plan.attention == AttentionKind::Fused)
    {
        writer.AttentionForward("flash attention", Flash(model, plan, shape));
        return;
    }
    const uint64_t rows = plan.microBatch * shape.heads * s;
    writer.Gemm("attention scores QK^T", Batched(s, s, d, GemmLayout::Tn, shape, plan));
    WriteSoftmax(writer, model, plan, shape);
    if (model.dropout)
    {
        writer.Memory("attention dropout", MemoryKernel::Dropout, rows, s, 2 * e + 1);
    }
    writer.Gemm("attention context PV", Batched(s, d, s, GemmLayout::Nn, shape, plan));
    writer.Memory("context transpose", MemoryKernel::Elementwise, shape.tokens, shape.query, 2 * e);
}

void
WriteAttentionBackward(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan)
{
    if (plan.context > 1)
    {
        WriteContextBackward(writer, model, plan);
        return;
    }
    const RankShape shape(model, plan);
    const uint64_t s = model.sequence;
    const uint64_t d = model.headDim;
    const double e = ActivationBytes(plan.precision);
    if (plan.attention == AttentionKind::Fused)
    {
        writer.AttentionBackward("flash attention backward", Flash(model, plan, shape));
        return;
    }
    const uint64_t rows = plan.microBatch * shape.heads * s;
    writer.Gemm("probabilities gradient", Batched(s, s, d, GemmLayout::Tn, shape, plan));
    writer.Gemm("value gradient", Batched(s, d, s, GemmLayout::Nt, shape, plan));
    if (model.dropout)
    {
        writer.Memory("attention dropout backward", MemoryKernel::Dropout, rows, s, 2 * e + 1);
    }
    WriteSoftmaxBackward(writer, model, plan, shape);
    for (const auto& [name, layout] :
         {std::pair("query gradient", GemmLayout::Nn), std::pair("key gradient", GemmLayout::Nt)})
    {
        writer.Gemm(name, Batched(s, d, s, layout, shape, plan));
        // The product's scale 1/sqrt(d) is applied to each gradient in a pass of its own (baddbmm).
        writer.Memory(std::string(name) + " scale",
                      MemoryKernel::Elementwise,
                      shape.tokens,
                      shape.query,
                      2 * e);
    }
    writer.Memory("QKV gradient concat", MemoryKernel::Elementwise, shape.tokens, shape.qkv, 2 * e);
}

} // namespace weir
