// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/layer-kernels.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** One flash-attention kernel over whole sequences. */
AttentionShape
Flash(const TransformerWriter& writer)
{
    AttentionShape attention;
    attention.batch = writer.Shape().samples;
    attention.heads = writer.Shape().heads;
    attention.kvHeads = writer.Shape().kvHeads;
    attention.sequence = writer.Model().sequence;
    attention.headDim = writer.Model().headDim;
    attention.speed = writer.Plan().attentionSpeed;
    attention.causal = writer.Model().causal;
    attention.precision = ActivationPrecision(writer.Plan().precision);
    return attention;
}

/** Writes the attention of one rank to the keys of all ranks that share its sequence. */
class ContextWriter
{
  public:
    explicit ContextWriter(TransformerWriter& writer)
        : m_plan(writer.Plan()),
          m_shape(writer.Shape()),
          m_element(writer.ElementBytes()),
          m_keyColumns(2 * m_shape.kvHeads * writer.Model().headDim),
          m_keys(static_cast<int64_t>(m_shape.tokens * m_keyColumns) *
                 static_cast<int64_t>(m_element)),
          m_own(Flash(writer)),
          m_writer(writer)
    {
        const Transformer& model = writer.Model();
        m_own.sequence = model.sequence / m_plan.context;
        m_other = m_own;
        m_other.causal = false;
        m_other.keySequence = model.causal ? m_own.sequence / 2 : m_own.sequence;
    }

    void RingForward()
    {
        for (uint32_t step = 0; step < m_plan.context; step++)
        {
            const bool isLast = step + 1 == m_plan.context;
            const int32_t next = isLast ? Segment::NOTHING : Pass("keys to the next rank", m_keys);
            m_writer.Attention("flash attention", step == 0 ? m_own : m_other, false);
            if (step > 0)
            {
                // out = out + exp(difference of softmax sums) (out of this step - out)
                Sum("attention merge", MemoryKernel::Elementwise, 1, m_element + 2 * FP32_BYTES);
            }
            m_writer.WaitFor(next);
        }
    }

    void RingBackward()
    {
        for (uint32_t step = 0; step < m_plan.context; step++)
        {
            const bool isLast = step + 1 == m_plan.context;
            const int64_t passed = (isLast ? 0 : 1) + (step == 0 ? 0 : 1);
            const int32_t next = Pass("keys and gradients to the next rank", m_keys * passed);
            m_writer.Attention("flash attention backward", step == 0 ? m_own : m_other, true);
            if (step > 0)
            {
                Add("query gradient add", m_shape.query);
            }
            m_writer.WaitFor(next);
            if (step > 0)
            {
                Add("key gradient add", m_keyColumns);
            }
        }
        m_writer.WaitFor(Pass("key gradients home", m_keys));
    }

    void GatherForward()
    {
        m_writer.WaitFor(Whole("keys all-gather", CollectiveOp::AllGather));
        m_writer.Attention("flash attention, first piece", Piece(true), false);
        m_writer.Attention("flash attention, last piece", Piece(false), false);
    }

    void GatherBackward()
    {
        m_writer.WaitFor(Whole("keys all-gather", CollectiveOp::AllGather));
        m_writer.Attention("flash attention backward, first piece", Piece(true), true);
        m_writer.Attention("flash attention backward, last piece", Piece(false), true);
        m_writer.WaitFor(Whole("key gradients reduce-scatter", CollectiveOp::ReduceScatter));
    }

    /**
     * Keys and values are repeated for all query heads. The kernels that merge a piece are written
     * for the last rank, all of whose pieces concern all of its queries.
     */
    void PiecesForward()
    {
        RepeatKeys("keys and values repeat");
        const int32_t gathered = GatherPieces();
        for (uint32_t step = 0; step < m_plan.context; step++)
        {
            if (step == 1)
            {
                m_writer.WaitFor(gathered);
            }
            m_writer.Attention("flash attention", Repeated(step == 0 ? m_own : m_other), false);
            Sum("attention to 32 bits", MemoryKernel::CastToFp32, 1, m_element + FP32_BYTES);
            if (step > 0)
            {
                // out = out - sigmoid(lse of this piece - lse) (out - out of this piece)
                Sum("attention difference", MemoryKernel::Elementwise, 1, 3 * FP32_BYTES);
                Sum("attention weighting", MemoryKernel::Elementwise, 1, 2 * FP32_BYTES);
                Sum("attention merge", MemoryKernel::Elementwise, 1, 3 * FP32_BYTES);
            }
            if (step > 0 && step + 1 < m_plan.context)
            {
                JoinKeys("keys and values join", m_element);
            }
        }
        Sum("attention to 16 bits", MemoryKernel::Elementwise, 1, FP32_BYTES + m_element);
    }

    void PiecesBackward()
    {
        Sum("gradients zero", MemoryKernel::Fill, 3, FP32_BYTES);
        const int32_t gathered = GatherPieces();
        int32_t passed = Segment::NOTHING;
        for (uint32_t step = 0; step < m_plan.context; step++)
        {
            if (step == 1)
            {
                m_writer.WaitFor(gathered);
            }
            m_writer.Attention(
                "flash attention backward", Repeated(step == 0 ? m_own : m_other), true);
            m_writer.WaitFor(passed);
            // Gradients of half of the keys are added to a copy of the gradients of all keys.
            const double add = 2 * FP32_BYTES + m_element;
            Sum("key gradients add",
                MemoryKernel::Elementwise,
                2,
                step == 0 ? add : add / 2 + 2 * FP32_BYTES);
            JoinKeys("key gradients join", FP32_BYTES);
            passed =
                Pass("key gradients to the next rank", Bytes::Nearest(RepeatedKeys() * FP32_BYTES));
            Sum("query gradient add", MemoryKernel::Elementwise, 1, add);
        }
        m_writer.WaitFor(passed);
        Sum("gradients to 16 bits", MemoryKernel::Elementwise, 3, FP32_BYTES + m_element);
        RepeatKeys("repeated gradients sum");
    }

  private:
    AttentionShape Repeated(AttentionShape shape) const
    {
        shape.kvHeads = shape.heads;
        return shape;
    }

    /** Elements of keys and values, repeated for all query heads. */
    double RepeatedKeys() const
    {
        return 2.0 * static_cast<double>(m_shape.tokens) * static_cast<double>(m_shape.query);
    }

    void RepeatKeys(const char* name)
    {
        // With KernelFusion::Eager, TransformerWriter's rotary embedding has repeated them already.
        if (m_shape.kvHeads < m_shape.heads && m_plan.fusion != KernelFusion::Eager)
        {
            const double share =
                static_cast<double>(m_shape.kvHeads) / static_cast<double>(m_shape.heads);
            Sum(name, MemoryKernel::Elementwise, 2, m_element * (1 + share));
        }
    }

    int32_t GatherPieces()
    {
        JoinKeys("keys and values join", m_element);
        return m_writer.CommunicateIn(Group(),
                                      "keys all-gather",
                                      CollectiveOp::AllGather,
                                      Bytes::Nearest(RepeatedKeys() * m_element * m_plan.context));
    }

    /** Concatenates keys and values in one buffer. */
    void JoinKeys(const char* name, double element)
    {
        Sum(name, MemoryKernel::Elementwise, 2, 2 * element);
    }

    /** A kernel over @p matrices matrices of the queries' shape. */
    void Sum(const char* name, MemoryKernel kernel, uint64_t matrices, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, {m_shape.tokens, matrices * m_shape.query}, bytesPerElement);
    }

    /**
     * Half of the rank's queries. The pieces are those of the first rank; all ranks have the same
     * work.
     */
    AttentionShape Piece(bool isFirst) const
    {
        AttentionShape piece = m_own;
        piece.sequence = m_own.sequence / 2;
        piece.keySequence =
            isFirst && m_own.causal ? piece.sequence : m_own.sequence * m_plan.context;
        return piece;
    }

    SegmentGroup Group() const
    {
        return {GroupSlot::Context, m_plan.context, TimeCategory::Context};
    }

    int32_t Pass(const char* name, Bytes bytes)
    {
        return m_writer.CommunicateIn(Group(), name, CollectiveOp::SendRecv, bytes);
    }

    int32_t Whole(const char* name, CollectiveOp op)
    {
        return m_writer.CommunicateIn(Group(), name, op, m_keys * m_plan.context);
    }

    void Add(const char* name, uint64_t columns)
    {
        m_writer.Elementwise(name, {m_shape.tokens, columns}, 3);
    }

    const ParallelPlan& m_plan;
    const RankShape& m_shape;
    double m_element;      //!< bytes of an activation
    uint64_t m_keyColumns; //!< columns of keys and values in total
    Bytes m_keys;          //!< keys and values of the rank's tokens
    AttentionShape m_own;
    AttentionShape m_other; //!< attention to the tokens of one other rank
    TransformerWriter& m_writer;
};

/**
 * The attention core over a sequence that C ranks share (context parallelism).
 *
 * Under a causal mask rank r holds pieces r and 2C - 1 - r of 2C, which balances the work
 * (Transformer Engine, attention with context parallelism; Brandon et al. 2023, Striped Attention,
 * describes the problem).
 * - Ring (Liu et al. 2023, arXiv 2310.01889): C steps. In each step the current keys and values are
 *   sent to the next rank while the rank computes its attention to them. The first step is causal
 *   over the rank's own tokens. Every other step needs half of the pairs: all queries with half of
 *   the keys, or half of the queries with all keys. The results of the steps are merged by their
 *   softmax sums.
 * - All-gather (Llama Team 2024, 3.3.2): keys and values of all ranks first, then both pieces.
 *
 * Backward, Ring: keys and values are passed around again. Their gradients follow one step behind
 * and take one step more to return to their rank. Backward, All-gather: keys and values are
 * gathered again and gradients are reduce-scattered.
 */
void
WriteContext(TransformerWriter& writer, bool isBackward)
{
    ContextWriter context(writer);
    switch (writer.Plan().contextExchange)
    {
    case ContextExchange::Ring:
        return isBackward ? context.RingBackward() : context.RingForward();
    case ContextExchange::Pieces:
        return isBackward ? context.PiecesBackward() : context.PiecesForward();
    case ContextExchange::AllGather:
        return isBackward ? context.GatherBackward() : context.GatherForward();
    }
}

/** GEMM of Q K^T or P V, batched over samples and heads. */
GemmShape
Batched(const TransformerWriter& writer, uint64_t m, uint64_t n, uint64_t k, GemmLayout layout)
{
    const uint64_t batch = writer.Shape().samples * writer.Shape().heads;
    return {m, n, k, batch, ActivationPrecision(writer.Plan().precision), layout};
}

/** Size of the scores of unfused attention. */
MatrixSize
Scores(const TransformerWriter& writer)
{
    const uint64_t s = writer.Model().sequence;
    return {writer.Shape().samples * writer.Shape().heads * s, s};
}

/**
 * Whether the fused softmax supports these scores: it processes four rows of one position at a time
 * (megatron/fused_kernels, scaled_upper_triang_masked_softmax; is_kernel_available in
 * megatron/model/fused_softmax.py).
 */
bool
HasFusedSoftmax(const Transformer& model, const RankShape& shape)
{
    constexpr uint64_t ROWS_AT_ONCE = 4;
    return shape.samples * shape.heads % ROWS_AT_ONCE == 0 && model.sequence % ROWS_AT_ONCE == 0;
}

/**
 * Writes scale, mask and softmax: one fused kernel, or PyTorch's fp32 kernels where the fused
 * kernel does not apply. The backward pass runs them in reverse order; its softmax also reads the
 * probabilities.
 */
void
WriteSoftmax(TransformerWriter& writer, bool isBackward)
{
    const double e = writer.ElementBytes();
    const auto write = [&](const char* name, MemoryKernel kernel, double bytes) {
        writer.Memory(
            std::string(name) + (isBackward ? " backward" : ""), kernel, Scores(writer), bytes);
    };
    const MemoryKernel softmax =
        isBackward ? MemoryKernel::SoftmaxBackward : MemoryKernel::SoftmaxForward;
    if (HasFusedSoftmax(writer.Model(), writer.Shape()))
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

void
WriteScoreDropout(TransformerWriter& writer, const char* name)
{
    if (writer.Model().dropout)
    {
        writer.Memory(name, MemoryKernel::Dropout, Scores(writer), 2 * writer.ElementBytes() + 1);
    }
}

void
WriteUnfusedForward(TransformerWriter& writer)
{
    const uint64_t s = writer.Model().sequence;
    const uint64_t d = writer.Model().headDim;
    writer.Gemm("attention scores QK^T", Batched(writer, s, s, d, GemmLayout::Tn));
    WriteSoftmax(writer, false);
    WriteScoreDropout(writer, "attention dropout");
    writer.Gemm("attention context PV", Batched(writer, s, d, s, GemmLayout::Nn));
    writer.Elementwise("context transpose", {writer.Shape().tokens, writer.Shape().query}, 2);
}

void
WriteUnfusedBackward(TransformerWriter& writer)
{
    const RankShape& shape = writer.Shape();
    const uint64_t s = writer.Model().sequence;
    const uint64_t d = writer.Model().headDim;
    writer.Gemm("probabilities gradient", Batched(writer, s, s, d, GemmLayout::Tn));
    writer.Gemm("value gradient", Batched(writer, s, d, s, GemmLayout::Nt));
    WriteScoreDropout(writer, "attention dropout backward");
    WriteSoftmax(writer, true);
    for (const auto& [name, layout] :
         {std::pair("query gradient", GemmLayout::Nn), std::pair("key gradient", GemmLayout::Nt)})
    {
        writer.Gemm(name, Batched(writer, s, d, s, layout));
        // The scale 1/sqrt(d) is applied to each gradient by a kernel of its own (baddbmm).
        writer.Elementwise(std::string(name) + " scale", {shape.tokens, shape.query}, 2);
    }
    writer.Elementwise("QKV gradient concat", {shape.tokens, shape.qkv}, 2);
}

} // namespace

void
WriteAttention(TransformerWriter& writer, bool isBackward)
{
    if (writer.Plan().context > 1)
    {
        return WriteContext(writer, isBackward);
    }
    if (writer.Plan().attention == AttentionKind::Unfused)
    {
        return isBackward ? WriteUnfusedBackward(writer) : WriteUnfusedForward(writer);
    }
    writer.Attention(
        isBackward ? "flash attention backward" : "flash attention", Flash(writer), isBackward);
}

} // namespace weir
