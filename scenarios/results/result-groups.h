// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RESULT_GROUPS_H
#define WEIR_SCENARIOS_RESULTS_RESULT_GROUPS_H

#include "scenarios/results/hdf5-file.h"
#include "scenarios/results/recorder.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/simulation.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * The groups of a result file that are written once, at the end of the run.
 */
namespace weir
{

/** The names of jobs and of their labels, which integer columns index. */
struct JobNames
{
    std::vector<std::string> jobs; //!< of training, collectives, traffic; then flows of no job
    std::vector<std::string> labels;
    std::vector<uint32_t> firstLabel; //!< by job
};

/** The names so far; only the labels of flows of no job grow during a run. */
JobNames JobNamesOf(Simulation& simulation);

/** /catalogs: the texts that integer columns index (jobs, labels, streams, ...). */
void WriteCatalogs(Hdf5File& file, Simulation& simulation);

/**
 * /summary: the breakdown of the steady step by job and pipeline stage, and the run's attributes.
 */
void WriteSummary(Hdf5File& file, const RunResult& result);

/**
 * /memory: the estimated memory of a GPU of the fullest stage by part, for each job with a model;
 * not written when no job has one.
 */
void WriteMemory(Hdf5File& file, const RunResult& result);

/** /ranks: the breakdown of the steady step by job and rank, and the location of the rank. */
void WriteRanks(Hdf5File& file, const RunResult& result, Simulation& simulation);

/** Whether the transport has ports with packet queues. */
bool HasPortCounters(Simulation& simulation);

/** /links: properties of each link and the bytes it carried in the measured window. */
void WriteLinks(Hdf5File& file, Simulation& simulation);

/** /flow_paths: the links of the valid ones of @p paths, by path number. */
void WriteFlowPaths(Hdf5File& file, Simulation& simulation, const std::vector<FlowPath>& paths);

/** Attributes of /provenance: the versions of Weir, ns-3 and HDF5. */
void WriteVersions(Hdf5File& file);

/** /provenance: the scenario after defaults, the mode, the seed and the versions. */
void WriteProvenance(Hdf5File& file, const RecordingSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RESULT_GROUPS_H
