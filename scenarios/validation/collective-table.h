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

/** One measured run of nccl-tests, and the sweep that must reach it. */
struct MeasuredCollective
{
    std::string name;
    CollectiveSweepSpec sweep;    //!< with the measured sizes, ascending
    std::vector<double> measured; //!< seconds, by size
    std::string suite{};          //!< that it is from, where runs of several stand side by side
};

/**
 * What a run was, without its rows: {name, system, nodes, gpusPerNode, op, nccl, algorithm,
 * protocol, channels, launch, queuePairs, minChannels, maxChannels}, the last seven where they were
 * not NCCL's own choice. @throws InputError with the place of what is missing or out of range.
 */
MeasuredCollective ReadMeasuredRun(const YamlNode& node, const Catalog& catalog);

/**
 * The runs of a suite of collectives: {measured, collectives}.
 *
 * `measured` is a file of comma-separated values beside the suite, run,size_bytes,time_us; each of
 * `collectives` says what a run of that name was, as ReadMeasuredRun.
 *
 * @throws InputError with the place of what is missing, unknown or out of range, of a run that has
 * no rows and of a row whose run is not described.
 */
std::vector<MeasuredCollective> ReadCollectiveTable(const YamlNode& suite, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_COLLECTIVE_TABLE_H
