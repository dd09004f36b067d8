// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_CALL_POSITION_H
#define WEIR_SCENARIOS_BOUND_CALL_POSITION_H

#include "collectives/engines/auto-engine.h"
#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "fabric/topology/cluster.h"
#include "scenarios/bound/calibration.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weir
{

/** Features of a cluster that the bound of any estimate depends on. */
struct ClusterFeatures
{
    double oversubscription{1}; //!< largest ratio, over leaves, of NIC rate to uplink rate
    double nodeRate{0};         //!< GB/s of the fastest link of a GPU
    double networkRate{0};      //!< GB/s of all NICs of a node per GPU; 0 without NICs

    bool IsOversubscribed() const
    {
        constexpr double EVEN = 1.05; // tolerance for rounding to whole links
        return oversubscription > EVEN;
    }
};

/** The features of @p cluster. O(links). */
ClusterFeatures FeaturesOf(const Cluster& cluster);

/** Contention classes: what limits a time. */
constexpr const char* CONTENDED = "contended"; //!< other traffic
constexpr const char* INSIDE_NODES = "inside"; //!< a link inside a node, for calls between nodes
constexpr const char* UNCONTENDED = "uncontended"; //!< neither

/** The feature of @p value: log2 of the value, or of 0.001 if that is larger. */
inline double
FeatureOf(double value)
{
    constexpr double SMALLEST = 1e-3; // negligible in all units: microseconds, GB/s, shares
    return std::log2(std::max(SMALLEST, value));
}

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

/**
 * Judges shortcuts by their calibrated bounds. A shortcut is good enough when its error, (estimate
 * / time of `flow`) - 1, stays within the tolerance with the given coverage, inside the calibrated
 * region.
 */
class BoundJudge : public ShortcutJudge
{
  public:
    /**
     * @p planner must outlive the judge.
     * @throws std::invalid_argument when @p spec has no calibration, or a coverage that is not
     *         calibrated.
     */
    BoundJudge(Planner& planner, const AutoSpec& spec);

    bool IsGoodEnough(const CollectivePlan& plan, Fidelity shortcut) const override;

    double GetTolerance() const override
    {
        return m_spec.tolerance;
    }

  private:
    AutoSpec m_spec;
    CallPositions m_positions;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALL_POSITION_H
