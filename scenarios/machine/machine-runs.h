// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_MACHINE_RUNS_H
#define WEIR_SCENARIOS_MACHINE_MACHINE_RUNS_H

#include "scenarios/catalog.h"
#include "scenarios/validation/collective-table.h"

#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** What runs were, by the keys of a suite's run: {"nodes", "4"}. */
using RunSettings = std::vector<std::pair<std::string, std::string>>;

/** A file of measured runs as it is named on the command line. */
struct RunArgument
{
    std::string file;
    RunSettings settings; //!< of all its runs
};

/**
 * FILE or FILE:key=value,key=value with the keys of a suite's run: op, nodes, gpusPerNode, nccl,
 * algorithm, protocol, channels, launch, queuePairs, minChannels, maxChannels.
 * @throws InputError at another key.
 */
RunArgument ParseRunArgument(const std::string& text);

/**
 * The runs of @p argument on @p system: what the argument says of them, else what the file says,
 * else @p defaults; named after their file.
 * @throws InputError as ReadNcclTests and ReadMeasuredRun, where nothing says how many nodes took
 *         part or which operation it was, where the argument contradicts the file's own lines (its
 *         name may be contradicted), and where the file lists GPUs of another model.
 */
std::vector<MeasuredCollective> ReadMachineRuns(const RunArgument& argument,
                                                const std::string& system,
                                                const RunSettings& defaults,
                                                const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_MACHINE_RUNS_H
