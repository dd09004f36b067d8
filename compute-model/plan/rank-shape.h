// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H
#define WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/**
 * Matrix dimensions of one tensor rank for one micro-batch, with T tensor ranks and C context
 * ranks. In a grid of d layers of q x q ranks, T below is q, hidden is h / q, and samples are
 * b / (q d) instead of b.
 */
struct RankShape
{
    RankShape(const Transformer& model, const ParallelPlan& plan);

    uint64_t samples; //!< b
    uint64_t tokens;  //!< s b / C, rows of every GEMM
    uint64_t
        normTokens; //!< rows of norms, dropouts and residuals: tokens / T with sequence parallelism
    uint64_t hidden; //!< h
    uint64_t heads;  //!< a / T
    uint64_t kvHeads;
    uint64_t query;      //!< columns of Q: heads * head size
    uint64_t qkv;        //!< columns of Q, K and V in total
    uint64_t inner;      //!< output columns of the first MLP GEMM (2 ffn / T for SwiGLU)
    uint64_t ffn;        //!< input columns of the second MLP GEMM
    uint64_t vocabulary; //!< words of this rank, see PaddedVocabulary
    Bytes boundary;      //!< tokens x hidden activations that tensor-parallel collectives carry
    Bytes stageBoundary; //!< what one tensor rank sends to the next pipeline stage
};

/**
 * Vocabulary size padded to a multiple of `vocabularyMultiple` times its parts, as in Megatron-LM.
 */
uint64_t PaddedVocabulary(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H
