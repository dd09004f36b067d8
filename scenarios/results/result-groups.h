// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RESULT_GROUPS_H
#define WEIR_SCENARIOS_RESULTS_RESULT_GROUPS_H

#include "scenarios/results/hdf5-file.h"
#include "scenarios/results/recording-spec.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/simulation.h"

#include <vector>

/**
 * @file
 * The groups of a result file that are written once, when the run has ended.
 */
namespace weir
{

/** /catalogs: the texts that number columns index (jobs, labels, streams, ...). */
void WriteCatalogs(Hdf5File& file, Simulation& simulation);

/** /summary: by job and pipeline stage, where the steady step's time went. */
void WriteSummary(Hdf5File& file, const RunResult& result);

/** /memory: by job with a model what fills a GPU of its fullest stage, by part; none without one.
 */
void WriteMemory(Hdf5File& file, const RunResult& result);

/** /ranks: by job and rank, the same, and where the rank is. */
void WriteRanks(Hdf5File& file, const RunResult& result, Simulation& simulation);

/** Whether links have ports at which packets wait. */
bool HasPortCounters(Simulation& simulation);

/** /links: what each link is and what it carried in the time that is measured. */
void WriteLinks(Hdf5File& file, Simulation& simulation);

/** /flow_paths: the links of those of @p paths, by number, that are valid. */
void WriteFlowPaths(Hdf5File& file, Simulation& simulation, const std::vector<FlowPath>& paths);

/** /provenance with the versions of Weir, ns-3 and HDF5. */
void WriteVersions(Hdf5File& file);

/** /provenance: the scenario after defaults, mode, seed, versions. */
void WriteProvenance(Hdf5File& file, const RecordingSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RESULT_GROUPS_H
