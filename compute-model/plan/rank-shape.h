// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H
#define WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The nearest whole number of bytes, at most 1 EiB: the sum of several estimates then stays within
 * 64 bits, and is more than any GPU has.
 */
Bytes EstimatedBytes(double bytes);

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

/**
 * Load of each expert relative to the mean: its share of a layer's (token, expert) pairs times the
 * number of experts. All loads are 1 when experts are balanced or padded to a capacity. Given
 * shares are scaled to a mean of 1. ExpertLoad::imbalance assigns k^-a to the experts in a seeded
 * random order; the exponent a is such that the busiest expert has `imbalance` times the mean.
 * Complexity O(experts).
 */
std::vector<double> ExpertShares(const ExpertLoad& load, uint32_t experts);

/**
 * Bytes that each expert rank sends to each expert rank, itself included, by sender, then receiver.
 * Empty where experts are balanced, since all entries are then equal. Results return by the
 * transpose. All ranks send the same amounts; ranks with busy experts receive more. Complexity
 * O(ranks^2).
 */
std::vector<std::vector<Bytes>> ExpertTraffic(const Transformer& model, const ParallelPlan& plan);

/**
 * Matrix dimensions of one rank in a layer with experts, for one micro-batch. They are those of the
 * busiest expert rank, for which all others wait when tokens return.
 */
struct ExpertShape
{
    ExpertShape(const Transformer& model, const ParallelPlan& plan);

    uint64_t tokens;   //!< of this rank: rows of the router's GEMM and of permutations
    uint64_t sent;     //!< (token, expert) rows that it sends to experts, padding included
    uint64_t received; //!< rows that its experts process
    std::vector<uint64_t> expertRows; //!< `received` by local expert
    uint64_t inner;                   //!< output columns of the first GEMM on this rank
    uint64_t ffn;                     //!< input columns of the second GEMM
    Bytes exchanged;                  //!< all-to-all to the experts: total bytes that a rank sends
    Bytes returned;                   //!< all-to-all back: total bytes that the busiest rank sends
    Bytes gathered;    //!< bytes of the rows of all expert-tensor ranks of one expert rank
    double parameters; //!< of local experts on this rank
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_RANK_SHAPE_H
