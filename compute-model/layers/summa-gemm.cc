// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/summa-gemm.h"

#include "compute-model/layers/gradient-accumulation.h"

namespace weir
{

namespace
{

/** A GEMM of matrices that are distributed in blocks over a grid of q x q ranks, on one rank. */
struct SummaGemm
{
    std::string name;
    GemmShape gemm; //!< of two blocks; accumulates into C (beta = 1), but the read of C is omitted
    std::string rowName{};
    Bytes row{}; //!< block that is sent along rows: of the left operand, or of the result
    std::string columnName{};
    Bytes column{}; //!< block that is sent along columns: of the right operand, or of the result
};

/** The GEMM of @p linear named @p name, whose row operand or result has the columns of X or dY. */
SummaGemm
SummaOf(const LinearShape& linear,
        const std::string& name,
        const std::string& rowName,
        const GemmShape& gemm)
{
    const auto block = [&](uint64_t rows, uint64_t columns) {
        return Bytes(static_cast<int64_t>(rows * columns * ActivationBytes(gemm.precision)));
    };
    return {linear.name + name,
            gemm,
            linear.name + rowName,
            block(linear.rows, linear.isEmbedding ? linear.out : linear.in),
            linear.name + " weight",
            block(linear.in, linear.out)};
}

/** C = A^T B or C = A B^T: one operand is broadcast by @p from, results are reduced by @p to. */
void
WriteReducing(SegmentWriter& writer, const SummaGemm& summa, BlockBroadcast from, BlockReduction to)
{
    for (uint32_t step = 0; step < writer.Plan().grid.side; step++)
    {
        from.Issue(step);
        from.WaitFor(step);
        to.FreeBuffer();
        writer.Gemm(summa.name, summa.gemm);
        to.Issue();
    }
    to.Finish();
}

/**
 * C = A B: in step t of q, column t broadcasts its blocks of A along the rows, row t broadcasts its
 * blocks of B along the columns, and every rank adds the product of the received blocks to its
 * block of C.
 *
 * If the plan overlaps tensor communication, each operand has two buffers: blocks of step t + 1 are
 * in flight while those of step t are multiplied, on rows and columns concurrently. Otherwise every
 * broadcast is waited for, rows before columns.
 */
void
WriteSumma(SegmentWriter& writer, const SummaGemm& summa)
{
    const ParallelPlan& plan = writer.Plan();
    BlockBroadcast left(writer, TokenGroup(plan), summa.rowName, summa.row);
    BlockBroadcast right(writer, ColumnGroup(plan), summa.columnName, summa.column);
    for (uint32_t step = 0; step < plan.grid.side; step++)
    {
        left.Issue(step);
        if (!plan.overlapTensor)
        {
            left.WaitFor(step);
        }
        right.Issue(step);
        left.WaitFor(step);
        right.WaitFor(step);
        writer.Gemm(summa.name, summa.gemm);
    }
}

/**
 * C = A B^T: in step t, row t broadcasts its blocks of B along the columns. The partial results are
 * reduced along rows into column t's blocks of C, overlapping the next GEMM if the plan overlaps.
 */
void
WriteSummaRightTransposed(SegmentWriter& writer, const SummaGemm& summa)
{
    const ParallelPlan& plan = writer.Plan();
    WriteReducing(writer,
                  summa,
                  BlockBroadcast(writer, ColumnGroup(plan), summa.columnName, summa.column),
                  BlockReduction(writer, TokenGroup(plan), summa.rowName, summa.row));
}

/**
 * C = A^T B: in step t, column t broadcasts its blocks of A along the rows. The partial results are
 * reduced along columns into row t's blocks of C, overlapping the next GEMM if the plan overlaps.
 */
void
WriteSummaLeftTransposed(SegmentWriter& writer, const SummaGemm& summa)
{
    const ParallelPlan& plan = writer.Plan();
    WriteReducing(writer,
                  summa,
                  BlockBroadcast(writer, TokenGroup(plan), summa.rowName, summa.row),
                  BlockReduction(writer, ColumnGroup(plan), summa.columnName, summa.column));
}

} // namespace

BlockBroadcast::BlockBroadcast(SegmentWriter& writer,
                               const SegmentGroup& line,
                               const std::string& name,
                               Bytes bytes)
    : m_writer(writer),
      m_line(line),
      m_name(name + " broadcast"),
      m_bytes(bytes)
{
}

void
BlockBroadcast::Issue(uint32_t step)
{
    const uint32_t last = step + (m_writer.Plan().overlapTensor ? 1 : 0);
    while (m_issued.size() <= last && m_issued.size() < m_line.ranks)
    {
        const auto root = static_cast<uint32_t>(m_issued.size());
        m_issued.push_back(
            m_writer.CommunicateIn(m_line, m_name, CollectiveOp::Broadcast, m_bytes, root));
    }
}

BlockReduction::BlockReduction(SegmentWriter& writer,
                               const SegmentGroup& line,
                               const std::string& name,
                               Bytes bytes)
    : m_writer(writer),
      m_line(line),
      m_name(name + " reduce"),
      m_bytes(bytes)
{
}

void
BlockReduction::FreeBuffer()
{
    if (m_issued.size() >= 2)
    {
        m_writer.WaitFor(m_issued[m_issued.size() - 2]);
    }
}

void
BlockReduction::Issue()
{
    const auto root = static_cast<uint32_t>(m_issued.size());
    m_issued.push_back(m_writer.CommunicateIn(m_line, m_name, CollectiveOp::Reduce, m_bytes, root));
    if (!m_writer.Plan().overlapTensor)
    {
        Finish();
    }
}

void
WriteSummaForward(SegmentWriter& writer, const LinearShape& linear)
{
    const char* row = linear.isEmbedding ? "" : " input";
    const GemmShape gemm = linear.ForwardGemm(writer.Plan().precision);
    const auto write = linear.isEmbedding ? WriteSummaRightTransposed : WriteSumma;
    write(writer, SummaOf(linear, "", row, gemm));
}

void
WriteSummaInputGradient(SegmentWriter& writer, const LinearShape& linear)
{
    const char* row = linear.isEmbedding ? " gradient" : " input gradient";
    const GemmShape gemm = linear.InputGradientGemm(writer.Plan().precision);
    const auto write = linear.isEmbedding ? WriteSumma : WriteSummaRightTransposed;
    write(writer, SummaOf(linear, " input gradient", row, gemm));
}

void
WriteSummaWeightGradient(SegmentWriter& writer, const LinearShape& linear)
{
    const char* row = linear.isEmbedding ? " gradient" : " input";
    const GemmShape gemm = linear.WeightGradientGemm(writer.Plan().precision);
    SummaGemm summa = SummaOf(linear, " weight gradient", row, gemm);
    summa.columnName = summa.name;
    WriteSummaLeftTransposed(writer, summa);
    // The results are summed over ranks before they are added to the gradients of earlier
    // micro-batches.
    WriteGradientAdd(writer, summa.name, linear.out, linear.in);
    writer.GradientsReady(linear.parameters);
}

} // namespace weir
