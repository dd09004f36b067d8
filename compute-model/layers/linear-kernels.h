// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H
#define WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H

#include "compute-model/layers/segment-writer.h"
#include "compute-model/plan/parallel-plan.h"

#include <cstdint>
#include <string>

namespace weir
{

/** The operand that tensor ranks gather before a product, with sequence parallelism. */
enum class GatheredOperand : uint8_t
{
    None,
    Input,         //!< of a column-parallel layer
    OutputGradient //!< of a row-parallel layer
};

/**
 * One rank's part of a linear layer: y [rows, out] = x [rows, in] W^T. In a tensor grid of q x q
 * ranks these are its blocks, and each product below is SUMMA's.
 */
struct LinearShape
{
    std::string name; //!< "QKV"
    uint64_t rows{0};
    uint64_t in{0};
    uint64_t out{0};
    double parameters{0};    //!< of weight and bias on this rank
    bool isEmbedding{false}; //!< in a grid: the weight lies as a word embedding does, [out, in]
    GatheredOperand gathered{GatheredOperand::None};
};

/**
 * Turns a rank's own rows of the operand that it is about to gather to fp8; nothing in other
 * formats or without sequence parallelism. The products then take the gathered rows as they are,
 * and the weight gradient transposes them first (fp8 products read both operands by rows of the
 * inner dimension).
 */
void WriteGatheredCast(SegmentWriter& writer, const LinearShape& linear, const ParallelPlan& plan);

/** The operand that tensor ranks gather, in words: "QKV input". */
std::string GatheredName(const LinearShape& linear);

/**
 * Begins to gather an operand over tensor ranks, with sequence parallelism.
 * @param whole bytes of the operand of all ranks, in the activations' format.
 * @return what its product waits for.
 */
int32_t WriteGather(SegmentWriter& writer,
                    const LinearShape& linear,
                    const ParallelPlan& plan,
                    Bytes whole);

/**
 * Begins to sum partial results of all tensor ranks: an all-reduce or, with sequence parallelism, a
 * reduce-scatter.
 * @param whole bytes of the result of all ranks.
 * @return what the result's user waits for.
 */
int32_t WriteTensorSum(SegmentWriter& writer,
                       const ParallelPlan& plan,
                       const std::string& name,
                       Bytes whole);

/** y = x W^T. @param gathered the gather of x that is under way, if any. */
void WriteLinearForward(SegmentWriter& writer,
                        const LinearShape& linear,
                        const ParallelPlan& plan,
                        int32_t gathered = Segment::NOTHING);

/**
 * y = x W^T of a row-parallel layer, whose results all tensor ranks sum: all-reduced or, with
 * sequence parallelism, reduce-scattered, beside all pieces but the first where products are split.
 * A grid's product has summed them. What comes next waits for it.
 * @param whole bytes of the result of all ranks.
 */
void WriteRowParallelForward(SegmentWriter& writer,
                             const LinearShape& linear,
                             const ParallelPlan& plan,
                             Bytes whole);

/** dx = dy W. @param gathered the gather of dy that is under way, if any. */
void WriteInputGradient(SegmentWriter& writer,
                        const LinearShape& linear,
                        const ParallelPlan& plan,
                        int32_t gathered = Segment::NOTHING);

/** dW += dy^T x, after which the layer's gradients are ready. */
void WriteWeightGradient(SegmentWriter& writer,
                         const LinearShape& linear,
                         const ParallelPlan& plan);

/**
 * Backward pass of a column-parallel linear layer, whose input gradient is a partial sum on every
 * tensor rank: all-reduced beside the weight gradient; with sequence parallelism the saved input is
 * gathered beside the input gradient and the input gradient reduce-scattered beside the weight
 * gradient. What comes next waits for the input gradient.
 * @param input bytes of the whole input, all tensor ranks together.
 */
void WriteColumnParallelBackward(SegmentWriter& writer,
                                 const LinearShape& linear,
                                 const ParallelPlan& plan,
                                 Bytes input);

/** The same without the weight gradient, which comes later. */
void WriteColumnParallelInputGradient(SegmentWriter& writer,
                                      const LinearShape& linear,
                                      const ParallelPlan& plan,
                                      Bytes input);

/**
 * What tensor ranks gather of an operand of products that has @p bytes in the activations' format:
 * fp8 operands are cast before (Transformer Engine; torchao's float8 tensor parallelism).
 */
Bytes GatheredBytes(Bytes bytes, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_LINEAR_KERNELS_H
