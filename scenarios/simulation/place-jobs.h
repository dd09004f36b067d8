// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_PLACE_JOBS_H
#define WEIR_SCENARIOS_SIMULATION_PLACE_JOBS_H

#include "fabric/topology/cluster.h"
#include "scenarios/scenario.h"

#include <string>
#include <vector>

namespace weir
{

/** Gives the jobs of a scenario their GPUs, one after another; no GPU to two. */
class JobPlacer
{
  public:
    /** @param cluster must outlive it */
    explicit JobPlacer(const Cluster& cluster);

    /**
     * The GPUs of the next job, by rank.
     * @param ranks how many; 0: all that @p placement has and that are free
     * @param ranksWhere what says how many, for messages; empty: nothing of a file
     * @throws InputError when there are too few, one is not there or is another job's.
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
    std::vector<std::string> m_takenBy; //!< by GPU: the job; empty: free
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_PLACE_JOBS_H
