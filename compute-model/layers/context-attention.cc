// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/context-attention.h"

#include "compute-model/plan/rank-shape.h"

namespace weir
{

namespace
{

constexpr double FP32 = 4; // bytes; softmax sums

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
                                m_element + 2 * FP32);
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

  private:
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
    else
    {
        context.GatherBackward();
    }
}

} // namespace weir
