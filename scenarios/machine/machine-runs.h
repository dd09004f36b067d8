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

/** Properties of runs, by the keys of a suite's run: {"nodes", "4"}. */
using RunSettings = std::vector<std::pair<std::string, std::string>>;

/** A file of measured runs, as named on the command line. */
struct RunArgument
{
    std::string file;
    RunSettings settings; //!< for all its runs
};

/**
 * Parses FILE or FILE:key=value,key=value with the keys of a suite's run: op, nodes, gpusPerNode,
 * nccl, algorithm, protocol, channels, launch, queuePairs, minChannels, maxChannels.
 * @throws InputError at another key.
 */
RunArgument ParseRunArgument(const std::string& text);

/**
 * Reads the runs of @p argument on @p system. A property is taken from the argument, else from the
 * file, else from @p defaults; runs are named after their file.
 * @throws InputError as ReadNcclTests and ReadMeasuredRun, when the number of nodes or the
 *         operation is unknown, when the argument contradicts the file's lines (not its name), and
 *         when the file lists GPUs of another model.
 */
std::vector<MeasuredCollective> ReadMachineRuns(const RunArgument& argument,
                                                const std::string& system,
                                                const RunSettings& defaults,
                                                const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_MACHINE_RUNS_H
