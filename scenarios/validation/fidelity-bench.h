// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_FIDELITY_BENCH_H
#define WEIR_SCENARIOS_VALIDATION_FIDELITY_BENCH_H

#include "collectives/collective.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/fidelity.h"
#include "fabric/units.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** One cluster on which calls are timed, each on an idle fabric. */
class FidelityBench : private CollectiveClient
{
  public:
    explicit FidelityBench(const ClusterSpec& spec);

    Planner& GetPlanner()
    {
        return m_simulation.GetPlanner();
    }

    const Cluster& GetCluster() const
    {
        return m_simulation.GetCluster();
    }

    /** Time until the last of the concurrent @p calls ends. */
    Time Run(Fidelity fidelity, const std::vector<CollectiveCall>& calls);

    /** Time per call of @p calls back-to-back calls. */
    Time RunBackToBack(Fidelity fidelity, const CollectiveCall& call, uint32_t calls);

  private:
    void OnCollectiveDone(uint64_t token, Time now) override;

    Simulation m_simulation;
    Time m_last;
};

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_FIDELITY_BENCH_H
