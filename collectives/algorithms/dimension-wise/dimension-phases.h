// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_PHASES_H
#define WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_PHASES_H

#include "collectives/algorithms/dimension-wise/dimension-grid.h"
#include "collectives/algorithms/dimension-wise/dimension-wise-settings.h"
#include "collectives/collective.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <vector>

/**
 * @file
 * What a dimension-wise collective is made of. A message is cut into chunks; a chunk crosses the
 * dimensions one after the other, in each of them a phase of steps that all ranks take alike:
 *
 *  - reduce-scatter over d1, d2, ...: of what a rank holds, the k-th part is left after each;
 *  - all-gather: the same backwards; all-reduce: both, one after the other;
 *  - all-to-all: in each dimension what a rank holds is exchanged with the others along it;
 *  - dispatch: the same from the last dimension to the first, with the tokens of all ranks that a
 *    rank has by then, to each peer those that have an expert there;
 *  - sparse all-reduce: reduce-scatter over d1, all-gather of what is selected over d2, ...,
 *    all-gather over d1.
 *
 * A dimension serves one chunk at a time, in the order in which they come.
 */
namespace weir
{

/** What a phase does with the parts that the ranks along a dimension hold. */
enum class PhaseKind : uint8_t
{
    Reduce,
    Gather,
    Exchange
};

/** A chunk's crossing of one dimension. */
struct DimensionPhase
{
    PhaseKind kind{PhaseKind::Reduce};
    uint32_t dimension{0};
    uint32_t chunk{0};
    double shrunk{1}; //!< the chunk's bytes over those that a rank has where it has most
};

/** One step of a phase, the same for all ranks. */
struct PhaseStep
{
    double divisor{1};     //!< of the chunk's bytes: what goes to each peer
    uint32_t firstPeer{0}; //!< of PeersOf
    uint32_t peers{1};     //!< to as many, from as many
};

/**
 * How far along a dimension of @p size the peers of a rank are, in the order of their connections.
 * A peer of halving-doubling is the rank whose digit differs in the bits of the number.
 */
std::vector<uint32_t> PeersOf(DimensionAlgorithm algorithm, uint32_t size);

/** The steps of @p phase along a dimension of @p size. */
std::vector<PhaseStep> StepsOf(const DimensionPhase& phase,
                               DimensionAlgorithm algorithm,
                               uint32_t size);

/** How a dimension is crossed by @p op: as @p settings say, in an all-to-all not by rings. */
DimensionAlgorithm AlgorithmAlong(const DimensionGrid& grid,
                                  uint32_t dimension,
                                  const DimensionWiseSettings& settings,
                                  CollectiveOp op);

/** Phases of all chunks in their order. */
struct PhasePlan
{
    struct Placed
    {
        DimensionPhase phase;
        uint32_t before; //!< the chunk's phase before, by its dimension; NONE: it is the first
        uint32_t after;  //!< similarly
    };

    static constexpr uint32_t NONE = 0xffffffff;

    std::vector<Placed> phases; //!< as they start
    Time end;                   //!< of the last
};

/** What phases take. */
struct PhaseCosts
{
    std::function<Time(const DimensionPhase&)> time; //!< of the dimension that one crosses
    std::function<double(const DimensionPhase&)>
        busy; //!< for which part of it a link is busy that dimensions of one group share
    std::vector<uint32_t> groups; //!< by dimension
    Time selection; //!< of a chunk's elements, before they go on; of one chunk at a time
};

/**
 * Plans all phases of @p op: each starts when the chunk has left the dimension before and its own
 * one is free, of those that could start the one that has waited longest. Phases in dimensions that
 * share links, such as a NIC's, slow each other down by what they load these links with at once.
 *
 * Chunks take the dimensions from the first to the last, all-gathers backwards. With
 * settings.balanced each takes that one first which so far has least to do, by the times of what
 * its chunks bring (Themis: Rashidi et al., ISCA 2022, section 4).
 *
 * O((chunks x dimensions)^2).
 */
PhasePlan PlanPhases(CollectiveOp op,
                     const DimensionGrid& grid,
                     const DimensionWiseSettings& settings,
                     const PhaseCosts& costs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_PHASES_H
