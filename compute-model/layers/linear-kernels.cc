// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/linear-kernels.h"

#include "compute-model/layers/mixed-precision.h"

#include <vector>

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

/** Broadcasts of one operand's blocks; each rank of a grid row or column is the root in turn. */
class BlockBroadcast
{
  public:
    /** All arguments must outlive it. */
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

    /** Issues the broadcasts of all existing steps up to @p last. */
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

/** Reductions of partial results to each rank of a grid row or column in turn; two may overlap. */
class BlockReduction
{
  public:
    /** @p writer must outlive it. @param overlaps whether kernels overlap the reductions */
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

    /** Waits until the buffer of the GEMM before the last is free. */
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

/** Number of steps by which a block's broadcast precedes its GEMM. */
uint32_t
StepsAhead(const ParallelPlan& plan)
{
    return plan.overlapTensor ? 1 : 0;
}

/** C = A^T B or C = A B^T: one operand is broadcast by @p from, results are reduced by @p to. */
void
WriteReducing(SegmentWriter& writer,
              const SummaGemm& summa,
              const ParallelPlan& plan,
              BlockBroadcast from,
              BlockReduction to)
{
    for (uint32_t step = 0; step < plan.grid.side; step++)
    {
        from.Issue(step + StepsAhead(plan));
        from.WaitFor(step);
        to.FreeBuffer();
        writer.Gemm(summa.name, summa.gemm);
        to.Issue();
    }
    to.Finish();
}

Bytes
Block(uint64_t rows, uint64_t columns, const ParallelPlan& plan)
{
    return Bytes(static_cast<int64_t>(rows * columns * ActivationBytes(plan.precision)));
}

/**
 * C = A B by SUMMA (van de Geijn and Watts 1997; Optimus and Tesseract, arXiv 2105.14500): in step
 * t of q, column t broadcasts its blocks of A along the rows, row t broadcasts its blocks of B
 * along the columns, and every rank adds the product of the received blocks to its block of C.
 *
 * If the plan overlaps tensor communication, each operand has two buffers: blocks of step t + 1 are
 * in flight while those of step t are multiplied, on rows and columns concurrently. Otherwise every
 * broadcast is waited for, rows before columns.
 */
void
WriteSumma(SegmentWriter& writer, const SummaGemm& summa, const ParallelPlan& plan)
{
    BlockBroadcast left(writer, TokenGroup(plan), summa.rowName, summa.row);
    BlockBroadcast right(writer, ColumnGroup(plan), summa.columnName, summa.column);
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
        writer.Gemm(summa.name, summa.gemm);
    }
}

/**
 * C = A B^T: in step t, row t broadcasts its blocks of B along the columns. The partial results are
 * reduced along rows into column t's blocks of C, overlapping the next GEMM if the plan overlaps.
 */
void
WriteSummaRightTransposed(SegmentWriter& writer, const SummaGemm& summa, const ParallelPlan& plan)
{
    WriteReducing(
        writer,
        summa,
        plan,
        BlockBroadcast(writer, ColumnGroup(plan), summa.columnName, summa.column),
        BlockReduction(writer, TokenGroup(plan), summa.rowName, summa.row, plan.overlapTensor));
}

/**
 * C = A^T B: in step t, column t broadcasts its blocks of A along the rows. The partial results are
 * reduced along columns into row t's blocks of C, overlapping the next GEMM if the plan overlaps.
 */
void
WriteSummaLeftTransposed(SegmentWriter& writer, const SummaGemm& summa, const ParallelPlan& plan)
{
    WriteReducing(
        writer,
        summa,
        plan,
        BlockBroadcast(writer, TokenGroup(plan), summa.rowName, summa.row),
        BlockReduction(
            writer, ColumnGroup(plan), summa.columnName, summa.column, plan.overlapTensor));
}

/** The GEMM of @p summa's row operand with the weight W, or with W^T if @p isTransposed. */
void
WriteSummaOfWeight(SegmentWriter& writer,
                   SummaGemm summa,
                   const LinearShape& linear,
                   const ParallelPlan& plan,
                   bool isTransposed)
{
    summa.row = Block(linear.rows, linear.isEmbedding ? linear.out : linear.in, plan);
    summa.columnName = linear.name + " weight";
    summa.column = Block(linear.in, linear.out, plan);
    isTransposed ? WriteSummaRightTransposed(writer, summa, plan) : WriteSumma(writer, summa, plan);
}

/** Y = X W; Y = X E^T where the weight is a word embedding. */
void
WriteSummaForward(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    SummaGemm summa{linear.name, Gemm(linear.rows, linear.out, linear.in, GemmLayout::Tn, plan)};
    summa.rowName = linear.name + (linear.isEmbedding ? "" : " input");
    WriteSummaOfWeight(writer, summa, linear, plan, linear.isEmbedding);
}

/** dX = dY W^T; dX = dY E. */
void
WriteSummaInputGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    SummaGemm summa{linear.name + " input gradient",
                    Gemm(linear.rows, linear.in, linear.out, GemmLayout::Nn, plan)};
    summa.rowName = linear.name + (linear.isEmbedding ? " gradient" : " input gradient");
    WriteSummaOfWeight(writer, summa, linear, plan, !linear.isEmbedding);
}

/** dW = X^T dY, or dE = dY^T X for a word embedding, added to the accumulated gradients. */
void
WriteSummaWeightGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    SummaGemm summa{linear.name + " weight gradient",
                    Gemm(linear.out, linear.in, linear.rows, GemmLayout::Nt, plan)};
    summa.rowName = linear.name + (linear.isEmbedding ? " gradient" : " input");
    summa.row = Block(linear.rows, linear.isEmbedding ? linear.out : linear.in, plan);
    summa.columnName = linear.name + " weight gradient";
    summa.column = Block(linear.in, linear.out, plan);
    WriteSummaLeftTransposed(writer, summa, plan);
    // The results are summed over ranks before they are added to the gradients of earlier
    // micro-batches.
    WriteGradientAdd(writer, plan, linear.name + " weight gradient", linear.out, linear.in);
    writer.GradientsReady(linear.parameters);
}

/** Whether @p operand of @p linear is gathered from all tensor ranks. */
bool
IsGathered(const LinearShape& linear, GatheredOperand operand, const ParallelPlan& plan)
{
    return plan.sequenceParallel && linear.gathered == operand;
}

/** Transposes gathered fp8 rows, which were cast in one orientation only. */
void
TransposeGathered(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (!plan.sequenceParallel || linear.gathered == GatheredOperand::None)
    {
        return;
    }
    const bool isInput = linear.gathered == GatheredOperand::Input;
    WriteFp8Transpose(
        writer, GatheredName(linear), linear.rows, isInput ? linear.in : linear.out, plan);
}

/** Sums a column-parallel layer's input gradient over the tensor ranks. */
int32_t
WriteInputReduction(SegmentWriter& writer,
                    const LinearShape& linear,
                    const ParallelPlan& plan,
                    Bytes input)
{
    if (plan.HasGrid())
    {
        return Segment::NOTHING; // the SUMMA GEMM has summed it
    }
    return WriteTensorSum(writer, plan, linear.name + " input gradient", input);
}

/** Group of the tensor communications that overlap split GEMMs. */
SegmentGroup
SplitGemmGroup(const ParallelPlan& plan)
{
    SegmentGroup group = TokenGroup(plan);
    group.byCopyEngine = true;
    return group;
}

/** Pieces @p first to @p end - 1 of a GEMM whose rows are split over tensor ranks. */
void
WritePieces(SegmentWriter& writer,
            const std::string& name,
            GemmShape gemm,
            uint32_t first,
            uint32_t end,
            const ParallelPlan& plan)
{
    gemm.m /= plan.tensor;
    for (uint32_t piece = first; piece < end; piece++)
    {
        writer.Gemm(name, gemm);
    }
}

/** A GEMM whose rows may still be in flight. */
void
WriteGatheredGemm(SegmentWriter& writer,
                  const std::string& name,
                  const GemmShape& gemm,
                  int32_t gathered,
                  const ParallelPlan& plan)
{
    if (gathered == Segment::NOTHING)
    {
        writer.Gemm(name, gemm);
        return;
    }
    WritePieces(writer, name, gemm, 0, plan.tensor - 1, plan);
    writer.WaitFor(gathered);
    WritePieces(writer, name, gemm, plan.tensor - 1, plan.tensor, plan);
}

/**
 * Whether the GEMM of a gathered operand overlaps the gather: in T pieces over T ranks, the last of
 * which waits for the whole gather. Transformer Engine processes pieces in the order of their
 * arrival. If a piece takes c to gather and g to multiply, both take g + (T - 1) max(c, g).
 */
bool
SplitsGemms(const LinearShape& linear, const ParallelPlan& plan)
{
    return plan.splitGemms && plan.overlapTensor && plan.sequenceParallel && plan.tensor > 1 &&
           linear.gathered != GatheredOperand::None;
}

} // namespace

int32_t
WriteGather(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan, Bytes whole)
{
    WriteGatheredCast(writer, linear, plan);
    if (!plan.sequenceParallel)
    {
        return Segment::NOTHING;
    }
    const std::string name = GatheredName(linear) + " all-gather";
    const Bytes bytes = GatheredBytes(whole, plan);
    if (SplitsGemms(linear, plan))
    {
        return writer.CommunicateIn(SplitGemmGroup(plan), name, CollectiveOp::AllGather, bytes);
    }
    writer.WaitFor(writer.Communicate(name, CollectiveOp::AllGather, bytes));
    return Segment::NOTHING;
}

int32_t
WriteTensorSum(SegmentWriter& writer,
               const ParallelPlan& plan,
               const std::string& name,
               Bytes whole)
{
    return plan.sequenceParallel
               ? writer.Communicate(name + " reduce-scatter", CollectiveOp::ReduceScatter, whole)
               : writer.Communicate(name + " all-reduce", CollectiveOp::AllReduce, whole);
}

Bytes
GatheredBytes(Bytes bytes, const ParallelPlan& plan)
{
    return plan.precision == Precision::Fp8 ? bytes / ActivationBytes(plan.precision) : bytes;
}

std::string
GatheredName(const LinearShape& linear)
{
    return linear.name +
           (linear.gathered == GatheredOperand::Input ? " input" : " output gradient");
}

void
WriteGatheredCast(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (!plan.sequenceParallel || linear.gathered == GatheredOperand::None)
    {
        return;
    }
    const bool isInput = linear.gathered == GatheredOperand::Input;
    WriteFp8Cast(writer,
                 GatheredName(linear),
                 linear.rows / plan.tensor,
                 isInput ? linear.in : linear.out,
                 Fp8Use::Once,
                 plan);
}

namespace
{

/** The fp8 casts of y = x W^T. */
void
WriteForwardCasts(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (!IsGathered(linear, GatheredOperand::Input, plan))
    {
        WriteFp8Cast(
            writer, linear.name + " input", linear.rows, linear.in, Fp8Use::NowAndBackward, plan);
    }
    WriteFp8Cast(
        writer, linear.name + " weight", linear.out, linear.in, Fp8Use::NowAndBackward, plan);
}

GemmShape
ForwardGemm(const LinearShape& linear, const ParallelPlan& plan)
{
    return Gemm(linear.rows, linear.out, linear.in, GemmLayout::Tn, plan);
}

} // namespace

void
WriteLinearForward(SegmentWriter& writer,
                   const LinearShape& linear,
                   const ParallelPlan& plan,
                   int32_t gathered)
{
    if (plan.grid.side > 1)
    {
        WriteSummaForward(writer, linear, plan);
        return;
    }
    WriteForwardCasts(writer, linear, plan);
    WriteGatheredGemm(writer, linear.name, ForwardGemm(linear, plan), gathered, plan);
}

void
WriteRowParallelForward(SegmentWriter& writer,
                        const LinearShape& linear,
                        const ParallelPlan& plan,
                        Bytes whole)
{
    const std::string output = linear.name + " output";
    if (SplitsGemms(linear, plan))
    {
        WriteForwardCasts(writer, linear, plan);
        const GemmShape gemm = ForwardGemm(linear, plan);
        WritePieces(writer, linear.name, gemm, 0, 1, plan);
        const int32_t scattered = writer.CommunicateIn(
            SplitGemmGroup(plan), output + " reduce-scatter", CollectiveOp::ReduceScatter, whole);
        WritePieces(writer, linear.name, gemm, 1, plan.tensor, plan);
        writer.WaitFor(scattered);
        return;
    }
    WriteLinearForward(writer, linear, plan);
    if (plan.HasGrid())
    {
        return;
    }
    writer.WaitFor(WriteTensorSum(writer, plan, output, whole));
}

void
WriteInputGradient(SegmentWriter& writer,
                   const LinearShape& linear,
                   const ParallelPlan& plan,
                   int32_t gathered)
{
    if (plan.grid.side > 1)
    {
        WriteSummaInputGradient(writer, linear, plan);
        return;
    }
    if (!IsGathered(linear, GatheredOperand::OutputGradient, plan))
    {
        WriteFp8Cast(
            writer, linear.name + " output gradient", linear.rows, linear.out, Fp8Use::Twice, plan);
    }
    WriteFp8Recast(writer, linear.name + " weight transposed", linear.out, linear.in, plan);
    WriteGatheredGemm(writer,
                      linear.name + " input gradient",
                      Gemm(linear.rows, linear.in, linear.out, GemmLayout::Nn, plan),
                      gathered,
                      plan);
}

void
WriteWeightGradient(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan)
{
    if (plan.grid.side > 1)
    {
        WriteSummaWeightGradient(writer, linear, plan);
        return;
    }
    TransposeGathered(writer, linear, plan);
    if (!IsGathered(linear, GatheredOperand::Input, plan))
    {
        WriteFp8Recast(writer, linear.name + " input transposed", linear.rows, linear.in, plan);
    }
    GemmShape gemm = Gemm(linear.out, linear.in, linear.rows, GemmLayout::Nt, plan);
    WriteGradientGemm(writer, plan, linear.name + " weight gradient", gemm);
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
        gathered = writer.Communicate(
            linear.name + " input all-gather", CollectiveOp::AllGather, GatheredBytes(input, plan));
    }
    WriteInputGradient(writer, linear, plan);
    const int32_t reduced = WriteInputReduction(writer, linear, plan, input);
    writer.WaitFor(gathered);
    WriteWeightGradient(writer, linear, plan);
    writer.WaitFor(reduced);
}

void
WriteColumnParallelInputGradient(SegmentWriter& writer,
                                 const LinearShape& linear,
                                 const ParallelPlan& plan,
                                 Bytes input)
{
    WriteInputGradient(writer, linear, plan);
    writer.WaitFor(WriteInputReduction(writer, linear, plan, input));
}

} // namespace weir
