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

/** Where collective calls on one cluster stand, known before they run. */
class CallPositions
{
  public:
    /** @p planner must outlive it. O(links). */
    explicit CallPositions(Planner& planner);

    static constexpr std::size_t CONTENTION = 1; //!< of a path: what decides the time

    /** What the features of a position are the logarithms of, base 2. */
    static std::vector<std::string> FeatureNames();

    /**
     * The path of a call's position is the shortcut, what decides its time ("contended": the
     * bottleneck is a link between switches, or switches route by load; "inside": of a call between
     * nodes it is a link inside one; else "uncontended"; a regime of several stands for none), its
     * algorithm, whether latency or bytes make up its
     * time, and the class of its operation. Fabrics, algorithms, versions and settings of NCCL that
     * no sample has are unsampled. O(1).
     */
    RegimePosition Of(const CollectivePlan& plan, Fidelity shortcut) const;

  private:
    Planner& m_planner;
    ClusterFeatures m_features;
};

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_CALL_POSITION_H
