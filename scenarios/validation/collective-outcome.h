// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_COLLECTIVE_OUTCOME_H
#define WEIR_SCENARIOS_VALIDATION_COLLECTIVE_OUTCOME_H

#include "scenarios/plot/chart.h"
#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/validation/collective-table.h"

#include <string>
#include <vector>

namespace weir
{

/** What a measured run of nccl-tests took, and what the simulation says to it. */
struct CollectiveOutcome
{
    MeasuredCollective run;
    std::vector<CollectivePoint> points; //!< by size, as simulated
};

/** @throws InputError as RunCollectiveSweep. */
CollectiveOutcome RunMeasuredCollective(const MeasuredCollective& run, Fidelity fidelity);

/**
 * What errors at one size are grouped by: the size (below 1 MiB, to 64 MiB, from there on),
 * the same with who launches, the operation, one node or several, the same with what joins the GPUs
 * of a node (nvswitch, nvlink mesh, pcie) and the size, the algorithm, the cluster, and the suite
 * where runs of several stand side by side.
 */
std::vector<std::string> ClassesOf(const CollectiveOutcome& outcome, std::size_t point);

/** Bus bandwidth against size: measured as points, simulated as a line. */
Chart BandwidthChart(const CollectiveOutcome& outcome);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_COLLECTIVE_OUTCOME_H
