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
 * The matrices that one tensor rank works on, for one micro-batch. T: tensor ranks; in a grid of
 * d layers of q x q ranks T below is q, hidden is h / q, and samples are b / (q d) instead of b.
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
    uint64_t qkv;        //!< columns of Q, K and V together
    uint64_t inner;      //!< columns that the first MLP GEMM gives (twice ffn / T for SwiGLU)
    uint64_t ffn;        //!< columns that the second MLP GEMM takes
    uint64_t vocabulary; //!< words of this rank, see PaddedVocabulary
    Bytes boundary;      //!< tokens x hidden activations, as tensor-parallel collectives carry them
    Bytes stageBoundary; //!< what one tensor rank sends to the next pipeline stage
};

/** The vocabulary made divisible by `vocabularyMultiple` times its parts, as Megatron-LM pads it.
 */
uint64_t PaddedVocabulary(const Transformer& model, const ParallelPlan& plan);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H
