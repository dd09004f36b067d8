// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/context-attention.h"

#include "compute-model/models/precision.h"
#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

/** Writes the attention of one rank to the keys of all that share its sequence. */
class ContextWriter
{
  public:
    ContextWriter(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan)
        : m_plan(plan),
          m_shape(model, plan),
          m_element(ActivationBytes(plan.precision)),
          m_keyColumns(2 * m_shape.kvHeads * model.headDim),
          m_keys(static_cast<int64_t>(m_shape.tokens * m_keyColumns) *
                 static_cast<int64_t>(m_element)),
          m_writer(writer)
    {
        m_own.batch = m_shape.samples;
        m_own.heads = m_shape.heads;
        m_own.kvHeads = m_shape.kvHeads;
        m_own.sequence = model.sequence / plan.context;
        m_own.headDim = model.headDim;
        m_own.causal = model.causal;
        m_own.speed = plan.attentionSpeed;
        m_own.precision = plan.precision == Precision::Fp8 ? Precision::Bf16 : plan.precision;
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
            m_writer.AttentionForward("flash attention", step == 0 ? m_own : m_other);
            if (step > 0)
            {
                // out = out + exp(difference of softmax sums) (out of this step - out)
                m_writer.Memory("attention merge",
                                MemoryKernel::Elementwise,
                                m_shape.tokens,
                                m_shape.query,
                                m_element + 2 * FP32_BYTES);
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
            m_writer.AttentionBackward("flash attention backward", step == 0 ? m_own : m_other);
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
        m_writer.AttentionForward("flash attention, first piece", Piece(true));
        m_writer.AttentionForward("flash attention, last piece", Piece(false));
    }

    void GatherBackward()
    {
        m_writer.WaitFor(Whole("keys all-gather", CollectiveOp::AllGather));
        m_writer.AttentionBackward("flash attention backward, first piece", Piece(true));
        m_writer.AttentionBackward("flash attention backward, last piece", Piece(false));
        m_writer.WaitFor(Whole("key gradients reduce-scatter", CollectiveOp::ReduceScatter));
    }

    /**
     * Keys and values come repeated for all query heads. Of the kernels that add a piece to the
     * sums those of the last rank are written, whose pieces all concern all of its queries.
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
            m_writer.AttentionForward("flash attention", Repeated(step == 0 ? m_own : m_other));
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
            m_writer.AttentionBackward("flash attention backward",
                                       Repeated(step == 0 ? m_own : m_other));
            m_writer.WaitFor(passed);
            // Gradients of half of the keys are added to a copy of all of them.
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
        // Eager, PointwiseWriter's rotary embedding has done so.
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

    /** Keys and values behind each other in one buffer. */
    void JoinKeys(const char* name, double element)
    {
        Sum(name, MemoryKernel::Elementwise, 2, 2 * element);
    }

    /** A kernel over so many matrices of the queries' shape. */
    void Sum(const char* name, MemoryKernel kernel, uint64_t matrices, double bytesPerElement)
    {
        m_writer.Memory(name, kernel, m_shape.tokens, matrices * m_shape.query, bytesPerElement);
    }

    /** Half of the rank's queries: the first rank's pieces, as much work as any other's. */
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
        m_writer.Memory(name, MemoryKernel::Elementwise, m_shape.tokens, columns, 3 * m_element);
    }

    const ParallelPlan& m_plan;
    RankShape m_shape;
    double m_element;      //!< bytes of an activation
    uint64_t m_keyColumns; //!< of keys and values together
    Bytes m_keys;          //!< keys and values of the rank's tokens
    AttentionShape m_own;
    AttentionShape m_other; //!< to the tokens of one other rank
    SegmentWriter& m_writer;
};

} // namespace

void
WriteContextForward(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan)
{
    ContextWriter context(writer, model, plan);
    if (plan.contextExchange == ContextExchange::Ring)
    {
        context.RingForward();
    }
    else if (plan.contextExchange == ContextExchange::Pieces)
    {
        context.PiecesForward();
    }
    else
    {
        context.GatherForward();
    }
}

void
WriteContextBackward(SegmentWriter& writer, const Transformer& model, const ParallelPlan& plan)
{
    ContextWriter context(writer, model, plan);
    if (plan.contextExchange == ContextExchange::Ring)
    {
        context.RingBackward();
    }
    else if (plan.contextExchange == ContextExchange::Pieces)
    {
        context.PiecesBackward();
    }
    else
    {
        context.GatherBackward();
    }
}

} // namespace weir
