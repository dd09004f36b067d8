// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_WISE_SETTINGS_H
#define WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_WISE_SETTINGS_H

#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** How the ranks along one dimension exchange their parts, in ASTRA-sim's words. */
enum class DimensionAlgorithm : uint8_t
{
    Ring,           //!< k - 1 steps to the next rank
    Direct,         //!< one step to all others at once
    HalvingDoubling //!< log2 k steps to a partner, of half as much each; k a power of two
};

/** "ring", "direct", "halving-doubling". */
const char* ToString(DimensionAlgorithm algorithm);

/**
 * An all-reduce of the largest elements only (MSTopK's HiTopKComm, Shi et al., MLSys 2021): summed
 * dense along the first dimension, of the sum as many elements as the density says gathered with
 * their indices along the others, and the result gathered dense along the first again.
 */
struct Sparsity
{
    double density{0.01};             //!< of a rank's elements, those that it sends
    Rate selection{Rate::Infinite()}; //!< at which a GPU finds them, of dense bytes
};

/**
 * An all-to-all of tokens to the experts of a mixture, spread over all ranks, as DeepEP dispatches
 * them: a token crosses a dimension once for all experts behind a peer, the last dimension first.
 * What brings the results back (combine) takes as long in precision alike.
 */
struct ExpertDispatch
{
    uint32_t experts{256};
    uint32_t expertsOfToken{8}; //!< which any of those in its groups are
    uint32_t groups{1};         //!< of experts, in order
    uint32_t groupsOfToken{1};  //!< which any are

    /** How likely a token has an expert on that part of all ranks, which are next to each other. */
    double ProbabilityOf(double share) const;
};

/** How dimension-wise collectives run (DIMENSION_WISE_ALGORITHM). */
struct DimensionWiseSettings
{
    std::vector<DimensionAlgorithm> algorithms; //!< by dimension, the last for all further ones;
                                                //!< empty: ring on a ring, direct on a full mesh,
                                                //!< halving-doubling (else direct) on a switch
    uint32_t chunks{4};   //!< of a message, that cross the dimensions one after the other
    bool balanced{false}; //!< Themis: each chunk takes the least loaded dimension first
    std::optional<ExpertDispatch> dispatch; //!< of all-to-alls, whose size is a rank's tokens
    std::optional<Sparsity> sparsity;       //!< of all-reduces; empty: they are dense
    std::optional<Time> endpointDelay; //!< of a step; empty: what NCCL's kernels and messages take
    std::optional<Rate> memoryRate; //!< of a GPU that adds what it receives, two reads and a write
                                    //!< of each byte, once it is there; empty: while it arrives

    /** Whether anything is not as by default. */
    bool IsGiven() const
    {
        const DimensionWiseSettings defaults;
        return !algorithms.empty() || chunks != defaults.chunks || balanced || dispatch ||
               sparsity || endpointDelay || memoryRate;
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_WISE_SETTINGS_H
