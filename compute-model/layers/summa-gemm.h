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

/**
 * Blocks that move along a row or column of a tensor grid: those of an operand, which each rank
 * broadcasts in turn, or those of a result, which is reduced to each rank in turn. Where the plan
 * overlaps, kernels overlap the communication, and two blocks may be in flight.
 */
class BlockLine
{
  public:
    /** @param op Broadcast or Reduce. @p writer must outlive it. */
    BlockLine(SegmentWriter& writer,
              CollectiveOp op,
              const SegmentGroup& line,
              const std::string& name,
              Bytes bytes);

    /** Issues the broadcasts up to that of @p step, or of the next where the plan overlaps. */
    void Send(uint32_t step);

    /**
     * Waits for the block of @p step of an operand, or until the buffer of the result before the
     * last is free.
     */
    void Await(uint32_t step);

    /** Issues the reduction of a result. */
    void Collect();

    /** Waits for the last communication. */
    void Finish();

  private:
    void Issue();

    SegmentWriter& m_writer;
    CollectiveOp m_op;
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
