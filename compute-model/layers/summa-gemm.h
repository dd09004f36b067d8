// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_SUMMA_GEMM_H
#define WEIR_COMPUTE_MODEL_LAYERS_SUMMA_GEMM_H

#include "compute-model/layers/linear-kernels.h"

#include <vector>

/**
 * @file
 * Linear layers in a tensor grid of q x q ranks, whose matrices are distributed in blocks: SUMMA
 * (van de Geijn and Watts 1997; Optimus and Tesseract, arXiv 2105.14500).
 */
namespace weir
{

/** Broadcasts of one operand's blocks; each rank of a grid row or column is the root in turn. */
class BlockBroadcast
{
  public:
    /** @p writer must outlive it. */
    BlockBroadcast(SegmentWriter& writer,
                   const SegmentGroup& line,
                   const std::string& name,
                   Bytes bytes);

    /** Issues the broadcasts up to that of @p step, or of the next where the plan overlaps. */
    void Issue(uint32_t step);

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

/**
 * Reductions of partial results to each rank of a grid row or column in turn. Where the plan
 * overlaps, kernels overlap them, and two may be in flight.
 */
class BlockReduction
{
  public:
    /** @p writer must outlive it. */
    BlockReduction(SegmentWriter& writer,
                   const SegmentGroup& line,
                   const std::string& name,
                   Bytes bytes);

    /** Waits until the buffer of the result before the last is free. */
    void FreeBuffer();

    void Issue();

    void Finish()
    {
        m_writer.WaitFor(m_issued.back());
    }

  private:
    SegmentWriter& m_writer;
    SegmentGroup m_line;
    std::string m_name;
    Bytes m_bytes;
    std::vector<int32_t> m_issued; //!< by step
};

/** Y = X W; Y = X E^T where the weight is a word embedding. */
void WriteSummaForward(SegmentWriter& writer, const LinearShape& linear);

/** dX = dY W^T; dX = dY E. */
void WriteSummaInputGradient(SegmentWriter& writer, const LinearShape& linear);

/** dW = X^T dY, or dE = dY^T X for a word embedding, added to the accumulated gradients. */
void WriteSummaWeightGradient(SegmentWriter& writer, const LinearShape& linear);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_SUMMA_GEMM_H
