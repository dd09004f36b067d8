// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_PHASES_H
#define WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_PHASES_H

#include "collectives/algorithms/dimension-wise/dimension-wise-settings.h"
#include "collectives/collective.h"
#include "collectives/communicator.h"
#include "fabric/kinds/fabric-dimension.h"
#include "fabric/topology/cluster.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <vector>

/**
 * @file
 * The phases of a dimension-wise collective. A message is cut into chunks. A chunk crosses the
 * dimensions one after the other; each crossing is a phase of steps that are the same for all
 * ranks:
 *
 *  - reduce-scatter over d1, d2, ...: each phase leaves 1/k of what a rank holds, for a size k;
 *  - all-gather: the same in reverse order; all-reduce: both, one after the other;
 *  - all-to-all: in each dimension a rank exchanges what it holds with the others along it;
 *  - dispatch: as all-to-all from the last dimension to the first, with the tokens of all ranks
 *    that a rank holds by then; each peer gets those that have an expert behind it; a direct
 *    dispatch has one dimension, in which each peer gets a copy for each of its experts;
 *  - sparse all-reduce: reduce-scatter over d1, all-gather of the selected elements over d2, ...,
 *    all-gather over d1.
 *
 * A dimension serves one chunk at a time, in the order of arrival.
 */
namespace weir
{

/**
 * The ranks of a group as points of a product of dimensions. The index of a point is its number in
 * the mixed radix of their sizes, with the first dimension fastest.
 */
struct DimensionGrid
{
    struct Dimension
    {
        uint32_t size{2};
        uint32_t stride{1}; //!< difference in index of adjacent points
        DimensionKind kind{DimensionKind::Switch};
    };

    std::vector<Dimension> dimensions; //!< dimensions of more than one point
    std::vector<uint32_t> rankAt;      //!< by point

    /** The point @p steps steps from @p point along a dimension, with wrap-around. */
    uint32_t Next(uint32_t point, uint32_t dimension, uint32_t steps) const;

    /** The coordinate of a point along a dimension. */
    uint32_t DigitOf(uint32_t point, uint32_t dimension) const
    {
        return point / dimensions[dimension].stride % dimensions[dimension].size;
    }
};

/**
 * The grid of a group. A group of all GPUs of a fabric with dimensions has these dimensions,
 * preceded by one for the GPUs of a NIC if there are several. Other groups have two: the GPUs of a
 * node, and the nodes. In a direct dispatch all ranks are one dimension.
 * @throws std::invalid_argument unless the group has equally many GPUs in each of its nodes.
 */
DimensionGrid GridOf(const Communicator& communicator,
                     const Cluster& cluster,
                     const DimensionWiseSettings& settings);

/** The operation of a phase on the parts that the ranks along a dimension hold. */
enum class PhaseKind : uint8_t
{
    Reduce,
    Gather,
    Exchange
};

/** The crossing of one dimension by one chunk. */
struct DimensionPhase
{
    PhaseKind kind{PhaseKind::Reduce};
    uint32_t dimension{0};
    uint32_t chunk{0};
    double shrunk{1}; //!< the chunk's bytes over those that a rank holds in the phase at most
};

/** One step of a phase, the same for all ranks. */
struct PhaseStep
{
    double divisor{1};     //!< each peer gets the chunk's bytes over this
    uint32_t firstPeer{0}; //!< index into PeersOf
    uint32_t peers{1};     //!< number of peers that it sends to, and that it receives from
};

/**
 * Distances of the peers along a dimension of @p size, in the order of their connections. With
 * halving-doubling the peer is the rank whose coordinate differs in these bits.
 */
std::vector<uint32_t> PeersOf(DimensionAlgorithm algorithm, uint32_t size);

/** The steps of @p phase along a dimension of @p size. */
std::vector<PhaseStep> StepsOf(const DimensionPhase& phase,
                               DimensionAlgorithm algorithm,
                               uint32_t size);

/**
 * The algorithm of @p op along a dimension: that of @p settings, or the default of the dimension's
 * kind.
 * @throws std::invalid_argument for halving-doubling along a dimension whose size is not a power of
 *         two, and for an all-to-all by ring.
 */
DimensionAlgorithm AlgorithmAlong(const DimensionGrid& grid,
                                  uint32_t dimension,
                                  const DimensionWiseSettings& settings,
                                  CollectiveOp op);

/** The phases of all chunks in order. */
struct PhasePlan
{
    struct ScheduledPhase
    {
        DimensionPhase phase;
        uint32_t before; //!< dimension of the chunk's previous phase; NONE: this is the first
        uint32_t after;  //!< dimension of the chunk's next phase; NONE: this is the last
    };

    static constexpr uint32_t NONE = 0xffffffff;

    std::vector<ScheduledPhase> phases; //!< in the order of their starts
    Time end;                           //!< of the last phase
};

/** The times of phases. */
struct PhaseCosts
{
    std::function<Time(const DimensionPhase&)> time; //!< uncontended time of a phase
    std::function<double(const DimensionPhase&)>
        busy; //!< the fraction of it in which the link is busy that dimensions of one group share
    std::vector<uint32_t> groups; //!< by dimension: dimensions of equal number share a link
    Time selection; //!< time to select a chunk's elements after a reduce-scatter phase; for one
                    //!< chunk at a time
};

/**
 * Plans all phases of @p op. A phase starts when its chunk has left the previous dimension and its
 * own dimension is free; of several such phases the one that has waited longest starts. Concurrent
 * phases in dimensions that share links, such as a NIC's, slow each other down by their total load
 * on these links.
 *
 * Chunks cross the dimensions from the first to the last, in all-gathers from the last to the
 * first. With settings.balanced each chunk takes the dimensions in ascending order of the load
 * assigned so far, in time (Themis: Rashidi et al., ISCA 2022, section 4).
 *
 * O((chunks x dimensions)^2).
 */
PhasePlan PlanPhases(CollectiveOp op,
                     const DimensionGrid& grid,
                     const DimensionWiseSettings& settings,
                     const PhaseCosts& costs);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_DIMENSION_PHASES_H
