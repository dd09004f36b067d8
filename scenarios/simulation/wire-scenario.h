// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H
#define WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H

#include "fabric/topology/cluster.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/simulation.h"

#include <memory>
#include <string>
#include <vector>

namespace weir
{

/**
 * Creates the simulation of a scenario, ready to run. JobPlacer assigns GPUs to the jobs in their
 * order.
 * @throws InputError (with the scenario's file and the job) when the fabric cannot be wired, a plan
 *         cannot run or does not fit, the jobs need more GPUs than there are, or an event names
 *         something that does not exist.
 */
std::unique_ptr<Simulation> WireScenario(const Scenario& scenario);

/** Assigns GPUs to the jobs of a scenario, one job after another; no GPU is assigned twice. */
class JobPlacer
{
  public:
    /** @param cluster must outlive the placer */
    explicit JobPlacer(const Cluster& cluster);

    /**
     * The GPUs of the next job, by rank.
     * @param job the job's name
     * @param ranks number of ranks; 0: all free GPUs of @p placement
     * @param ranksWhere location of the number of ranks, for messages; empty: not from a file
     * @throws InputError when there are too few free GPUs, or a listed GPU, node or leaf does not
     *         exist or a listed GPU belongs to another job.
     */
    std::vector<GpuId> Place(const std::string& job,
                             uint32_t ranks,
                             const PlacementSpec& placement,
                             const std::string& ranksWhere = "");

  private:
    std::vector<uint32_t> NodesOf(const PlacementSpec& placement) const;
    std::vector<uint32_t> NodesAcrossLeaves(const PlacementSpec& placement) const;
    std::vector<uint32_t> NodesAtLeaves(const PlacementSpec& placement) const;
    std::vector<GpuId> CandidatesOf(const PlacementSpec& placement) const;

    const Cluster& m_cluster;
    std::vector<std::string> m_takenBy; //!< by GPU: the job's name; empty: free
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_WIRE_SCENARIO_H
