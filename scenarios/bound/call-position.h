// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALL_POSITION_H
#define WEIR_SCENARIOS_BOUND_CALL_POSITION_H

#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "scenarios/bound/regime-position.h"

#include <string>
#include <vector>

namespace weir
{

constexpr uint32_t FEW_RANKS = 64;             //!< groups of more ranks form regimes of their own
constexpr uint32_t MAX_RANKS = 1024;           //!< of groups in the samples
constexpr uint32_t MAX_ALL_TO_ALL_RANKS = 256; //!< in the samples: each pair has its own route
constexpr double MANY_SLICES = 0x1p22; //!< beyond this `flow` takes seconds, unless it folds them

/** The class of groups of @p ranks. */
inline std::string
GroupClass(std::size_t ranks)
{
    return "to-" + std::to_string(ranks <= FEW_RANKS ? FEW_RANKS : MAX_RANKS) + "-ranks";
}

/** Positions of collective calls on one cluster, known before the calls run. */
class CallPositions
{
  public:
    /** @p planner must outlive this object. O(links). */
    explicit CallPositions(Planner& planner);

    static constexpr std::size_t CONTENTION = 2; //!< index in a path: the contention class
    static constexpr std::size_t SIZE = 4;       //!< index in a path: the size class
    static constexpr std::size_t SLICES = 4;     //!< index in features: slices that `flow` moves

    /** Names of the features, whose logarithms to base 2 a position holds. */
    static std::vector<std::string> FeatureNames();

    /**
     * The position of a call. Its path consists of
     * - the shortcut;
     * - the group size: up to 64 ranks, or more;
     * - what limits its time: "contended" where the bottleneck is a link between switches or
     *   switches route by load, "inside" where the bottleneck of a call between nodes is a link
     *   inside one, else "uncontended";
     * - the algorithm;
     * - whether latency or bytes dominate its time;
     * - the class of its operation.
     *
     * A regime must name at least the first three. Calls whose channels the closed form keeps
     * synchronous (CollectivePlan::isInLockstep) are unsampled, since their error is systematic. So
     * are fabrics, algorithms, NCCL versions, NCCL settings and groups that no sample contains.
     * Slices are a feature because samples leave out large groups that move many. O(connections of
     * the call's schedule); the schedule is not kept.
     */
    RegimePosition Of(const CollectivePlan& plan, Fidelity shortcut) const;

  private:
    double SlicesOf(const CollectivePlan& plan) const;

    Planner& m_planner;
    ClusterFeatures m_features;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALL_POSITION_H
