// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_WISE_SETTINGS_H
#define WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_WISE_SETTINGS_H

#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** How the ranks along one dimension exchange their parts, by ASTRA-sim's names. */
enum class DimensionAlgorithm : uint8_t
{
    Ring,           //!< k - 1 steps to the next of k ranks
    Direct,         //!< one step to all others concurrently
    HalvingDoubling //!< log2 k steps to one partner each, with half the bytes of the previous step;
                    //!< k is a power of two
};

/** "ring", "direct", "halving-doubling". */
const char* ToString(DimensionAlgorithm algorithm);

/**
 * An all-reduce of the largest elements only (MSTopK's HiTopKComm, Shi et al., MLSys 2021): a dense
 * reduce-scatter along the first dimension, an all-gather along the other dimensions of the sum's
 * selected elements with their indices, and a dense all-gather along the first dimension.
 */
struct Sparsity
{
    double density{0.01};             //!< fraction of a rank's elements that it sends
    Rate selection{Rate::Infinite()}; //!< rate at which a GPU selects them, in dense bytes
};

/**
 * An all-to-all of tokens to the experts of a mixture of experts spread over all ranks, as DeepEP
 * dispatches them: a token crosses a dimension once for all experts behind a peer, the last
 * dimension first. DeepEP's low-latency kernels instead send it straight to each of its experts.
 * The exchange that returns the results (combine) takes equally long at equal precision.
 */
struct ExpertDispatch
{
    uint32_t experts{256};
    uint32_t expertsOfToken{8}; //!< drawn uniformly from its groups
    uint32_t groups{1};         //!< of consecutive experts, equal in size
    uint32_t groupsOfToken{1};  //!< drawn uniformly from all groups
    bool isDirect{false}; //!< a token goes straight to the GPU of each of its experts, once for
                          //!< each expert; all ranks are then one dimension

    /**
     * Probability that a token has an expert on a fraction @p share of all ranks, which are
     * consecutive.
     */
    double ProbabilityOf(double share) const;

    /** Mean number of times that a token is sent to the ranks of @ref ProbabilityOf. */
    double CopiesTo(double share) const
    {
        return isDirect ? expertsOfToken * share : ProbabilityOf(share);
    }
};

/** Settings of dimension-wise collectives (DIMENSION_WISE_ALGORITHM). */
struct DimensionWiseSettings
{
    std::vector<DimensionAlgorithm> algorithms; //!< by dimension, the last for all further ones;
                                                //!< empty: ring on a ring, direct on a full mesh,
                                                //!< halving-doubling (else direct) on a switch
    uint32_t chunks{4};   //!< of a message; each crosses one dimension after the other
    bool balanced{false}; //!< Themis: each chunk crosses the least loaded dimension first
    std::optional<ExpertDispatch> dispatch; //!< for all-to-alls, whose size is a rank's tokens
    std::optional<Sparsity> sparsity;       //!< for all-reduces; empty: dense
    std::optional<Time> endpointDelay; //!< of a step; empty: that of NCCL's kernels and messages
    std::optional<Rate> memoryRate;    //!< of a GPU that reduces received bytes after arrival,
                                       //!< with two reads and a write per byte; empty: it
                                       //!< reduces them on arrival

    /** Whether any setting differs from its default. */
    bool IsGiven() const
    {
        const DimensionWiseSettings defaults;
        return !algorithms.empty() || chunks != defaults.chunks || balanced || dispatch ||
               sparsity || endpointDelay || memoryRate;
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_WISE_SETTINGS_H
