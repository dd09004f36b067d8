// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_COLLECTIVE_TABLE_H
#define WEIR_SCENARIOS_VALIDATION_COLLECTIVE_TABLE_H

#include "scenarios/catalog.h"
#include "scenarios/simulation/collective-sweep.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/** A measured run of nccl-tests and the sweep that simulates it. */
struct MeasuredCollective
{
    std::string name;
    CollectiveSweepSpec sweep;    //!< has the measured sizes, ascending
    std::vector<double> measured; //!< seconds, by size
    std::string suite{};          //!< suite of the run, if runs of several suites are combined
};

/**
 * Reads the description of a run: {name, system, nodes, gpusPerNode, op, nccl, algorithm, protocol,
 * channels, launch, queuePairs, minChannels, maxChannels}; the last seven only if they were not
 * NCCL's own choice.
 * @throws InputError with the location of what is missing or out of range.
 */
MeasuredCollective ReadMeasuredRun(const YamlNode& node, const Catalog& catalog);

/**
 * Reads the runs of a suite of collectives: {measured, collectives}.
 *
 * `measured` is a CSV file next to the suite with the columns run,size_bytes,time_us; `collectives`
 * describes each run by name, see ReadMeasuredRun.
 *
 * @throws InputError with the location of what is missing, unknown or out of range, of a run
 *         without rows and of a row whose run is not described.
 */
std::vector<MeasuredCollective> ReadCollectiveTable(const YamlNode& suite, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_COLLECTIVE_TABLE_H
