// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/attention-kernels.h"

#include "compute-model/layers/context-attention.h"
#include "compute-model/models/precision.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

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
    gemm.batch = shape.samples * shape.heads;
    gemm.precision = plan.precision == Precision::Fp8 ? Precision::Bf16 : plan.precision;
    gemm.layout = layout;
    return gemm;
}

AttentionShape
Flash(const Transformer& model, const ParallelPlan& plan, const RankShape& shape)
{
    AttentionShape attention;
    attention.batch = shape.samples;
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
    return shape.samples * shape.heads % ROWS_AT_ONCE == 0 && model.sequence % ROWS_AT_ONCE == 0;
}

/** Which way a pass goes through the layers. */
enum class Pass : uint8_t
{
    Forward,
    Backward
};

/**
 * Scale, mask and softmax: one kernel, or PyTorch's own in fp32 where the fused one is not for. The
 * backward pass does the same backwards; its softmax reads the probabilities, too.
 */
void
WriteSoftmax(SegmentWriter& writer,
             const Transformer& model,
             const ParallelPlan& plan,
             const RankShape& shape,
             Pass pass)
{
    const bool isBackward = pass == Pass::Backward;
    const uint64_t s = model.sequence;
    const double e = ActivationBytes(plan.precision);
    const auto write = [&](const char* name, MemoryKernel kernel, double bytes) {
        writer.Memory(std::string(name) + (isBackward ? " backward" : ""),
                      kernel,
                      shape.samples * shape.heads * s,
                      s,
                      bytes);
    };
    const MemoryKernel softmax =
        isBackward ? MemoryKernel::SoftmaxBackward : MemoryKernel::SoftmaxForward;
    if (HasFusedSoftmax(model, plan, shape))
    {
        write("scale mask softmax", softmax, (isBackward ? 2 : 1.5) * e);
        return;
    }

    struct Step
    {
        const char* name;
        MemoryKernel kernel;
        double bytes;
    };

    std::vector<Step> steps{{"scale", MemoryKernel::Elementwise, 2 * FP32_BYTES},
                            {"mask", MemoryKernel::Elementwise, 2 * FP32_BYTES + 1},
                            {"softmax", softmax, (isBackward ? 3 : 2) * FP32_BYTES}};
    const char* into = "scores cast";
    const char* out = "probabilities cast";
    if (isBackward)
    {
        std::reverse(steps.begin(), steps.end());
        std::swap(into, out);
    }
    write(into, MemoryKernel::CastToFp32, e + FP32_BYTES);
    for (const Step& step : steps)
    {
        write(step.name, step.kernel, step.bytes);
    }
    write(out, MemoryKernel::Elementwise, FP32_BYTES + e);
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
    const uint64_t rows = shape.samples * shape.heads * s;
    writer.Gemm("attention scores QK^T", Batched(s, s, d, GemmLayout::Tn, shape, plan));
    WriteSoftmax(writer, model, plan, shape, Pass::Forward);
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
    const uint64_t rows = shape.samples * shape.heads * s;
    writer.Gemm("probabilities gradient", Batched(s, s, d, GemmLayout::Tn, shape, plan));
    writer.Gemm("value gradient", Batched(s, d, s, GemmLayout::Nt, shape, plan));
    if (model.dropout)
    {
        writer.Memory("attention dropout backward", MemoryKernel::Dropout, rows, s, 2 * e + 1);
    }
    WriteSoftmax(writer, model, plan, shape, Pass::Backward);
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
