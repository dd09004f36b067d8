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

/** Uses of an operand in one pass. */
enum class Fp8Use : uint8_t
{
    Once,          //!< one GEMM of this pass
    Twice,         //!< two GEMMs of this pass, one of which takes it transposed
    NowAndBackward //!< one GEMM now, and one of the backward pass, which takes it transposed
};

/**
 * Writes the cast of an operand to fp8; nothing in other precisions. Transformer Engine reads it in
 * 16 bits and writes the fp8 operand and its transpose in one kernel, with scales of earlier steps.
 * torchao (without Transformer Engine's kernels) first reads it for its maximum, and keeps it in 16
 * bits for the backward pass, which casts it again (matmul_with_hp_or_float8_args).
 */
void WriteFp8Cast(SegmentWriter& writer,
                  const std::string& name,
                  const MatrixSize& size,
                  Fp8Use use);

/**
 * Writes the second, transposed cast of a forward operand, where the forward pass kept it in 16
 * bits.
 */
void WriteFp8Recast(SegmentWriter& writer, const std::string& name, const MatrixSize& size);

/**
 * Writes the accumulation of a micro-batch's weight gradients onto those of the earlier
 * micro-batches.
 *
 * - Megatron-LM and Transformer Engine (KernelFusion::Kernels) keep a buffer, in fp32 or the
 *   weights' own precision. Every pass accumulates into it: within the GEMM that computes a
 *   gradient (WriteGradientGemm), or by a kernel that reads the gradient and reads and writes the
 *   buffer.
 * - PyTorch casts a gradient to fp32 where gradients are kept in fp32 (the backward pass of
 *   autocast). In all micro-batches but the first it adds the gradient to the earlier ones, which
 *   reads both and writes one. The kernel that is written is the mean over micro-batches.
 * - Where every pass reduces gradients and a rank keeps its part (ZeRO-2), they are copied, and
 *   cast, into the bucket that is reduced.
 * - Under full sharding the unit's reduction takes gradients as they are.
 */
void WriteGradientAdd(SegmentWriter& writer, const std::string& name, const MatrixSize& size);

/**
 * Writes the GEMM of a weight gradient, and WriteGradientAdd where the GEMM does not accumulate.
 */
void WriteGradientGemm(SegmentWriter& writer, const std::string& name, GemmShape gemm);

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
    bool splits{true}; //!< its GEMMs are split where the plan splits GEMMs

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
 * Starts the gather of an operand over tensor ranks, with sequence parallelism. In fp8 each rank
 * casts its own rows first, and the GEMMs use the gathered rows without another cast. The weight
 * gradient transposes them first (fp8 GEMMs read both operands by rows of the inner dimension).
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
 * The same in a separate pass, for which the input of a column-parallel layer is gathered again
 * with sequence parallelism.
 */
void WriteDeferredWeightGradient(SegmentWriter& writer, const LinearShape& linear);

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

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H
