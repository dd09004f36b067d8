// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <string>

namespace weir
{

/** Operand that tensor ranks gather before a GEMM, with sequence parallelism. */
enum class GatheredOperand : uint8_t
{
    None,
    Input,         //!< of a column-parallel layer
    OutputGradient //!< of a row-parallel layer
};

/**
 * One rank's part of a linear layer: y [rows, out] = x [rows, in] W^T. In a tensor grid of q x q
 * ranks these are its blocks, and each GEMM below is a SUMMA GEMM.
 */
struct LinearShape
{
    std::string name; //!< "QKV"
    uint64_t rows{0};
    uint64_t in{0};
    uint64_t out{0};
    double parameters{0};    //!< of weight and bias on this rank
    bool isEmbedding{false}; //!< in a grid: the weight is stored like a word embedding, [out, in]
    GatheredOperand gathered{GatheredOperand::None};
    Bytes whole{}; //!< of the operand that is gathered, or the result that is summed, on all tensor
                   //!< ranks, in the activations' precision

    /** y = x W^T. */
    GemmShape ForwardGemm(Precision precision) const
    {
        return {rows, out, in, 1, precision, GemmLayout::Tn};
    }

    /** dx = dy W. */
    GemmShape InputGradientGemm(Precision precision) const
    {
        return {rows, in, out, 1, precision, GemmLayout::Nn};
    }

    /** dW = dy^T x. */
    GemmShape WeightGradientGemm(Precision precision) const
    {
        return {out, in, rows, 1, precision, GemmLayout::Nt};
    }
};

/**
 * Casts a rank's own rows of the operand that is gathered next to fp8; nothing in other precisions
 * or without sequence parallelism. The GEMMs then use the gathered rows without another cast. The
 * weight gradient transposes them first (fp8 GEMMs read both operands by rows of the inner
 * dimension).
 */
void WriteGatheredCast(SegmentWriter& writer, const LinearShape& linear);

/** Name of the operand that tensor ranks gather: "QKV input". */
std::string GatheredName(const LinearShape& linear);

/**
 * Starts the gather of an operand over tensor ranks, with sequence parallelism.
 * @return the pending gather that the GEMM takes, or Segment::NOTHING
 */
int32_t WriteGather(SegmentWriter& writer, const LinearShape& linear);

/**
 * Starts the sum of partial results over all tensor ranks: an all-reduce or, with sequence
 * parallelism, a reduce-scatter.
 * @param whole bytes of the result on all ranks
 * @return the communication that users of the result wait for
 */
int32_t WriteTensorSum(SegmentWriter& writer, const std::string& name, Bytes whole);

/** y = x W^T. @param gathered the pending gather of x, if any */
void WriteLinearForward(SegmentWriter& writer,
                        const LinearShape& linear,
                        int32_t gathered = Segment::NOTHING);

/**
 * y = x W^T of a row-parallel layer, and the sum of its results over the tensor ranks: an
 * all-reduce or, with sequence parallelism, a reduce-scatter. Where GEMMs are split, it overlaps
 * all pieces but the first. In a grid the SUMMA GEMM has summed the results. The kernels that
 * follow wait for the sum.
 */
void WriteRowParallelForward(SegmentWriter& writer, const LinearShape& linear);

/** dx = dy W. @param gathered the pending gather of dy, if any */
void WriteInputGradient(SegmentWriter& writer,
                        const LinearShape& linear,
                        int32_t gathered = Segment::NOTHING);

/** dW += dy^T x, after which the layer's gradients are ready. */
void WriteWeightGradient(SegmentWriter& writer, const LinearShape& linear);

/**
 * Backward pass of a column-parallel linear layer, whose input gradient is a partial sum on every
 * tensor rank. The all-reduce of the input gradient overlaps the weight gradient. With sequence
 * parallelism the all-gather of the saved input overlaps the input gradient, and the reduce-scatter
 * of the input gradient overlaps the weight gradient. The kernels that follow wait for the input
 * gradient.
 * @param defersWeightGradient leaves out the weight gradient
 */
void WriteColumnParallelBackward(SegmentWriter& writer,
                                 const LinearShape& linear,
                                 bool defersWeightGradient = false);

/**
 * Bytes that tensor ranks gather of a GEMM operand with @p bytes in the activations' precision: fp8
 * operands are cast before the gather (Transformer Engine; torchao's float8 tensor parallelism).
 */
Bytes GatheredBytes(Bytes bytes, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H
