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

constexpr uint32_t FEW_RANKS = 64;             //!< larger groups are regimes of their own
constexpr uint32_t MAX_RANKS = 1024;           //!< of groups in the samples
constexpr uint32_t MAX_ALL_TO_ALL_RANKS = 256; //!< there: each pair of them has a route of its own
constexpr double MANY_SLICES = 0x1p22;         //!< more take flow seconds, if it cannot fold them

/** The class of paths of groups of @p ranks. */
inline std::string
GroupClass(std::size_t ranks)
{
    return "to-" + std::to_string(ranks <= FEW_RANKS ? FEW_RANKS : MAX_RANKS) + "-ranks";
}

/** Where collective calls on one cluster stand, known before they run. */
class CallPositions
{
  public:
    /** @p planner must outlive it. O(links). */
    explicit CallPositions(Planner& planner);

    static constexpr std::size_t CONTENTION = 2; //!< of a path: what decides the time
    static constexpr std::size_t SIZE = 4;       //!< of a path: whether latency or bytes do
    static constexpr std::size_t SLICES = 4;     //!< of features: what `flow` moves to time a call

    /** What the features of a position are the logarithms of, base 2. */
    static std::vector<std::string> FeatureNames();

    /**
     * The path of a call's position is the shortcut, whether its group has up to 64 ranks or more,
     * what decides its time ("contended": the bottleneck is a link between switches, or switches
     * route by load; "inside": of a call between nodes it is a link inside one; else
     * "uncontended"; a regime of several sizes or of several of these stands for none), its
     * algorithm, whether latency or bytes make up its time, and the class of its operation. Calls
     * whose channels shortcuts keep in step (CollectivePlan::isInStep) have none, for they are
     * systematically off. Fabrics, algorithms, versions and settings of NCCL and groups that no
     * sample has are unsampled. Slices are a feature because samples leave out large groups that
     * move many. O(connections of the call's schedule), which is not kept.
     */
    RegimePosition Of(const CollectivePlan& plan, Fidelity shortcut) const;

  private:
    double SlicesOf(const CollectivePlan& plan) const;

    Planner& m_planner;
    ClusterFeatures m_features;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALL_POSITION_H
