// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/summa-kernels.h"

#include "compute-model/layers/gradient-add.h"

#include <string>
#include <vector>

namespace weir
{

namespace
{

/** A product of matrices that lie in blocks on a grid of q x q ranks, as one rank sees it. */
struct SummaProduct
{
    GemmShape gemm; //!< of two blocks
    std::string rowName;
    Bytes row; //!< block that goes along rows: of the left operand, or of the result
    std::string columnName;
    Bytes column; //!< block that goes along columns: of the right operand, or of the result
    std::string name;
};

/** One operand's blocks, given out in turn by the ranks of a line. */
class BlockBroadcast
{
  public:
    /** All must outlive it. */
    BlockBroadcast(SegmentWriter& writer,
                   const SegmentGroup& line,
                   const std::string& name,
                   Bytes bytes)
        : m_writer(writer),
          m_line(line),
          m_name(name + " broadcast"),
          m_bytes(bytes)
    {
    }

    /** Blocks of all steps up to @p last, as far as there are any, are on their way. */
    void Issue(uint32_t last)
    {
        while (m_issued.size() <= last && m_issued.size() < m_line.ranks)
        {
            m_issued.push_back(m_writer.CommunicateIn(m_line,
                                                      m_name,
                                                      CollectiveOp::Broadcast,
                                                      m_bytes,
                                                      static_cast<uint32_t>(m_issued.size())));
        }
    }

    void WaitFor(uint32_t step)
    {
        m_writer.WaitFor(m_issued[step]);
    }

  private:
    SegmentWriter& m_writer;
    SegmentGroup m_line;
    std::string m_name;
    Bytes m_bytes;
    std::vector<int32_t> m_issued; //!< by step
};

/** Products summed into the blocks of each rank of a line in turn; two may be on their way. */
class BlockReduction
{
  public:
    /** @p writer must outlive it. @param overlaps kernels run beside it. */
    BlockReduction(SegmentWriter& writer,
                   const SegmentGroup& line,
                   const std::string& name,
                   Bytes bytes,
                   bool overlaps)
        : m_writer(writer),
          m_line(line),
          m_name(name + " reduce"),
          m_bytes(bytes),
          m_overlaps(overlaps)
    {
    }

    /** The buffer of the product before the last is needed again. */
    void FreeBuffer()
    {
        if (m_issued.size() >= 2)
        {
            m_writer.WaitFor(m_issued[m_issued.size() - 2]);
        }
    }

    void Issue()
    {
        m_issued.push_back(m_writer.CommunicateIn(
            m_line, m_name, CollectiveOp::Reduce, m_bytes, static_cast<uint32_t>(m_issued.size())));
        if (!m_overlaps)
        {
            Finish();
        }
    }

    void Finish()
    {
        m_writer.WaitFor(m_issued.back());
    }

  private:
    SegmentWriter& m_writer;
    SegmentGroup m_line;
    std::string m_name;
    Bytes m_bytes;
    bool m_overlaps;
    std::vector<int32_t> m_issued; //!< by step
};

/** How many steps before it is multiplied a block is on its way. */
uint32_t
StepsAhead(const ParallelPlan& plan)
{
    return plan.overlapTensor ? 1 : 0;
}

/** C = A^T B and C = A B^T: one operand comes along @p from, results go along @p to. */
void
WriteReducing(SegmentWriter& writer,
              const SummaProduct& product,
              const ParallelPlan& plan,
              BlockBroadcast from,
              BlockReduction to)
{
    for (uint32_t step = 0; step < plan.grid.side; step++)
    {
        from.Issue(step + StepsAhead(plan));
        from.WaitFor(step);
        to.FreeBuffer();
        writer.Gemm(product.name, product.gemm);
        to.Issue();
    }
    to.Finish();
}

Bytes
Block(uint64_t rows, uint64_t columns, const ParallelPlan& plan)
{
    return Bytes(static_cast<int64_t>(rows * columns * ActivationBytes(plan.precision)));
}

/** The GEMM itself adds to C (beta = 1); that it reads C from the second step on is left out. */
SummaProduct
Product(const std::string& name,
        uint64_t m,
        uint64_t n,
        uint64_t k,
        GemmLayout layout,
        const ParallelPlan& plan)
{
    SummaProduct product;
    product.name = name;
    product.gemm.m = m;
    product.gemm.n = n;
    product.gemm.k = k;
    product.gemm.precision = plan.precision;
    product.gemm.layout = layout;
    return product;
}

/**
 * C = A B by SUMMA (van de Geijn and Watts 1997; Optimus and Tesseract, arXiv 2105.14500): in step
 * t of q column t gives its blocks of A to its rows, row t its blocks of B to its columns, and
 * every rank adds the product of what it got to its block of C.
 *
 * Where the plan overlaps tensor communication there are two buffers for each operand: blocks of
 * step t + 1 are on their way while those of step t are multiplied, rows and columns at once. Else
 * every broadcast is waited for, rows before columns.
 */
void
WriteSumma(SegmentWriter& writer, const SummaProduct& product, const ParallelPlan& plan)
{
    BlockBroadcast left(writer, TokenGroup(plan), product.rowName, product.row);
    BlockBroadcast right(writer, ColumnGroup(plan), product.columnName, product.column);
    for (uint32_t step = 0; step < plan.grid.side; step++)
    {
        left.Issue(step + StepsAhead(plan));
        if (!plan.overlapTensor)
        {
            left.WaitFor(step);
        }
        right.Issue(step + StepsAhead(plan));
        left.WaitFor(step);
        right.WaitFor(step);
        writer.Gemm(product.name, product.gemm);
    }
}

/**
 * C = A B^T: in step t row t gives its blocks of B to its columns; the products are summed along
 * rows into column t's blocks of C, beside the next product where the plan overlaps.
 */
void
WriteSummaRightTransposed(SegmentWriter& writer,
                          const SummaProduct& product,
                          const ParallelPlan& plan)
{
    WriteReducing(
        writer,
        product,
        plan,
        BlockBroadcast(writer, ColumnGroup(plan), product.columnName, product.column),
        BlockReduction(writer, TokenGroup(plan), product.rowName, product.row, plan.overlapTensor));
}

/**
 * C = A^T B: in step t column t gives its blocks of A to its rows; the products are summed along
 * columns into row t's blocks of C, similarly.
 */
void
WriteSummaLeftTransposed(SegmentWriter& writer,
                         const SummaProduct& product,
                         const ParallelPlan& plan)
{
    WriteReducing(
        writer,
        product,
        plan,
        BlockBroadcast(writer, TokenGroup(plan), product.rowName, product.row),
        BlockReduction(
            writer, ColumnGroup(plan), product.columnName, product.column, plan.overlapTensor));
}

} // namespace

void
WriteSummaForward(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    SummaProduct product =
        Product(linear.name, linear.rows, linear.out, linear.in, GemmLayout::Tn, plan);
    product.columnName = linear.name + " weight";
    product.column = Block(linear.in, linear.out, plan);
    if (linear.isEmbedding)
    {
        product.rowName = linear.name;
        product.row = Block(linear.rows, linear.out, plan);
        WriteSummaRightTransposed(writer, product, plan);
        return;
    }
    product.rowName = linear.name + " input";
    product.row = Block(linear.rows, linear.in, plan);
    WriteSumma(writer, product, plan);
}

void
WriteSummaInputGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    SummaProduct product = Product(
        linear.name + " input gradient", linear.rows, linear.in, linear.out, GemmLayout::Nn, plan);
    product.columnName = linear.name + " weight";
    product.column = Block(linear.in, linear.out, plan);
    if (linear.isEmbedding)
    {
        product.rowName = linear.name + " gradient";
        product.row = Block(linear.rows, linear.out, plan);
        WriteSumma(writer, product, plan);
        return;
    }
    product.rowName = linear.name + " input gradient";
    product.row = Block(linear.rows, linear.in, plan);
    WriteSummaRightTransposed(writer, product, plan);
}

void
WriteSummaWeightGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    SummaProduct product = Product(
        linear.name + " weight gradient", linear.out, linear.in, linear.rows, GemmLayout::Nt, plan);
    product.rowName = linear.name + (linear.isEmbedding ? " gradient" : " input");
    product.row = Block(linear.rows, linear.isEmbedding ? linear.out : linear.in, plan);
    product.columnName = linear.name + " weight gradient";
    product.column = Block(linear.in, linear.out, plan);
    WriteSummaLeftTransposed(writer, product, plan);
    // Products of a step are summed over ranks before they are added to those of steps before.
    WriteGradientAdd(writer, plan, linear.name + " weight gradient", linear.out, linear.in);
    writer.GradientsReady(linear.parameters);
}

} // namespace weir
