// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_EXPERT_SHAPE_H
#define WEIR_COMPUTE_MODEL_PLAN_EXPERT_SHAPE_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The share of a layer's (token, expert) pairs that each expert gets, times the number of experts:
 * 1 for all when they are balanced or padded to a capacity. Given shares are scaled to that mean;
 * an imbalance distributes k^-a over a seeded order of the experts, with the exponent a that makes
 * the busiest expert's share @p imbalance times the mean. Complexity O(experts).
 */
std::vector<double> ExpertShares(const ExpertLoad& load, uint32_t experts);

/**
 * What each expert rank gives each other, itself included, so that it works on it, where experts
 * are not balanced; none where all parts are equal. What comes back is the transpose. All ranks
 * give as much; the rank of busy experts gets more. O(ranks^2).
 */
std::vector<std::vector<Bytes>> ExpertTraffic(const Transformer& model, const ParallelPlan& plan);

/**
 * The matrices that one rank works on in a layer of experts, for one micro-batch: those of the
 * busiest expert rank, for which all others wait when tokens come back.
 */
struct ExpertShape
{
    ExpertShape(const Transformer& model, const ParallelPlan& plan);

    uint64_t tokens;                  //!< of this rank: rows of router and permutations
    uint64_t sent;                    //!< (token, expert) rows that it gives away, padding included
    uint64_t received;                //!< rows that it works on
    std::vector<uint64_t> expertRows; //!< of them, by local expert
    uint64_t inner;                   //!< columns of the first GEMM on this rank
    uint64_t ffn;                     //!< columns that the second GEMM takes
    Bytes exchanged;                  //!< all-to-all: what a rank gives in all to be worked on
    Bytes returned;                   //!< the same back: of the busiest rank
    Bytes gathered;                   //!< rows of all expert-tensor ranks of one expert rank
    double parameters;                //!< of local experts on this rank
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_EXPERT_SHAPE_H
