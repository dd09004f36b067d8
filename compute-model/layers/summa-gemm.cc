// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/summa-gemm.h"

#include <array>

namespace weir
{

namespace
{

/**
 * Writes GEMMs of matrices that are distributed in blocks over a grid of q x q ranks, on one rank.
 *
 * C = A B: in step t of q, column t broadcasts its blocks of A along the rows, row t broadcasts its
 * blocks of B along the columns, and every rank adds the product of the received blocks to its
 * block of C (beta = 1, but the read of C is omitted). If the plan overlaps tensor communication,
 * each operand has two buffers: blocks of step t + 1 are in flight while those of step t are
 * multiplied, on rows and columns concurrently. Otherwise every broadcast is waited for, rows
 * before columns.
 *
 * C = A B^T: in step t, row t broadcasts its blocks of B along the columns. The partial results are
 * reduced along rows into column t's blocks of C, overlapping the next GEMM if the plan overlaps.
 *
 * C = A^T B: in step t, column t broadcasts its blocks of A along the rows. The partial results are
 * likewise reduced along columns into row t's blocks of C.
 *
 * @param names of the GEMM, of the blocks along rows, which have the columns of X or dY, and of
 *        those along columns, which are the weight's; each after that of @p linear
 * @param gemm of two blocks
 * @param rowOp,columnOp Broadcast for an operand, Reduce for the result
 */
void
WriteSumma(SegmentWriter& writer,
           const LinearShape& linear,
           const std::array<const char*, 3>& names,
           const GemmShape& gemm,
           CollectiveOp rowOp,
           CollectiveOp columnOp)
{
    const ParallelPlan& plan = writer.Plan();
    const auto line = [&](CollectiveOp op,
                          const SegmentGroup& group,
                          const char* name,
                          uint64_t elements) {
        const uint64_t bytes = elements * ActivationBytes(gemm.precision);
        return BlockLine(writer, op, group, linear.name + name, Bytes(static_cast<int64_t>(bytes)));
    };
    const uint64_t columns = linear.isEmbedding ? linear.out : linear.in;
    BlockLine row = line(rowOp, TokenGroup(plan), names[1], linear.rows * columns);
    BlockLine column = line(columnOp, ColumnGroup(plan), names[2], linear.in * linear.out);
    const bool isRowFirst = rowOp == CollectiveOp::Broadcast;
    BlockLine& first = isRowFirst ? row : column; // an operand
    BlockLine& second = isRowFirst ? column : row;
    for (uint32_t step = 0; step < plan.grid.side; step++)
    {
        first.Send(step);
        if (!plan.overlapTensor)
        {
            first.Await(step);
        }
        second.Send(step);
        first.Await(step);
        second.Await(step);
        writer.Gemm(linear.name + names[0], gemm);
        second.Collect();
    }
    second.Finish();
}

} // namespace

BlockLine::BlockLine(SegmentWriter& writer,
                     CollectiveOp op,
                     const SegmentGroup& line,
                     const std::string& name,
                     Bytes bytes)
    : m_writer(writer),
      m_op(op),
      m_line(line),
      m_name(name + (op == CollectiveOp::Broadcast ? " broadcast" : " reduce")),
      m_bytes(bytes)
{
}

void
BlockLine::Send(uint32_t step)
{
    const uint32_t last = step + (m_writer.Plan().overlapTensor ? 1 : 0);
    while (m_op == CollectiveOp::Broadcast && m_issued.size() <= last &&
           m_issued.size() < m_line.ranks)
    {
        Issue();
    }
}

void
BlockLine::Await(uint32_t step)
{
    if (m_op == CollectiveOp::Broadcast)
    {
        m_writer.WaitFor(m_issued[step]);
    }
    else if (m_issued.size() >= 2)
    {
        m_writer.WaitFor(m_issued[m_issued.size() - 2]);
    }
}

void
BlockLine::Collect()
{
    if (m_op == CollectiveOp::Reduce)
    {
        Issue();
        if (!m_writer.Plan().overlapTensor)
        {
            Finish();
        }
    }
}

void
BlockLine::Finish()
{
    if (m_op == CollectiveOp::Reduce)
    {
        m_writer.WaitFor(m_issued.back());
    }
}

void
BlockLine::Issue()
{
    const auto root = static_cast<uint32_t>(m_issued.size());
    m_issued.push_back(m_writer.CommunicateIn(m_line, m_name, m_op, m_bytes, root));
}

void
WriteSummaForward(SegmentWriter& writer, const LinearShape& linear)
{
    const bool isReduced = linear.isEmbedding;
    WriteSumma(writer,
               linear,
               {"", isReduced ? "" : " input", " weight"},
               linear.ForwardGemm(writer.Plan().precision),
               isReduced ? CollectiveOp::Reduce : CollectiveOp::Broadcast,
               CollectiveOp::Broadcast);
}

void
WriteSummaInputGradient(SegmentWriter& writer, const LinearShape& linear)
{
    const bool isReduced = !linear.isEmbedding;
    WriteSumma(writer,
               linear,
               {" input gradient", isReduced ? " input gradient" : " gradient", " weight"},
               linear.InputGradientGemm(writer.Plan().precision),
               isReduced ? CollectiveOp::Reduce : CollectiveOp::Broadcast,
               CollectiveOp::Broadcast);
}

void
WriteSummaWeightGradient(SegmentWriter& writer, const LinearShape& linear)
{
    const char* const name = " weight gradient";
    WriteSumma(writer,
               linear,
               {name, linear.isEmbedding ? " gradient" : " input", name},
               linear.WeightGradientGemm(writer.Plan().precision),
               CollectiveOp::Broadcast,
               CollectiveOp::Reduce);
    // The results are summed over ranks before they are added to the gradients of earlier
    // micro-batches.
    WriteGradientAdd(writer, linear.name + name, {linear.out, linear.in});
    writer.GradientsReady(linear.parameters);
}

} // namespace weir
