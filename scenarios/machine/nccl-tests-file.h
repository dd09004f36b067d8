// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_MACHINE_NCCL_TESTS_FILE_H
#define WEIR_SCENARIOS_MACHINE_NCCL_TESTS_FILE_H

#include "collectives/collective.h"
#include "collectives/nccl/nccl-settings.h"
#include "fabric/units.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir
{

/** A measured run as a file of nccl-tests has it; what the file does not say is empty. */
struct NcclTestsRun
{
    std::optional<CollectiveOp> op;
    std::optional<uint32_t> nodes;
    std::optional<uint32_t> gpusPerNode;
    std::optional<LaunchMode> launch;
    std::optional<std::string> ncclVersion;
    std::string opWhere;                     //!< the place that says it; empty: the file's name
    std::string devicesWhere;                //!< of the first GPU; empty: the file lists none
    std::map<std::string, std::string> gpus; //!< the place of the first GPU of each name
    std::vector<Bytes> sizes;                //!< ascending, each once
    std::vector<double> seconds;             //!< of a call, out of place; by size
};

/**
 * The runs of a file that nccl-tests wrote.
 *
 * - Text as it is printed, with or without mpirun's tags: columns are found by the names of the
 *   table's header, nodes, GPUs and processes by the lines of devices.
 * - JSON (`-J`): `results`, `devices`, `args`, `nccl_version`.
 * - CSV with the columns size_bytes (or size) and time_us (or time), perhaps collective (or op) and
 *   in_place, whose rows other than 0 are passed over; one run an operation.
 *
 * Empty calls and times that are not available are passed over. An operation or `NODESxGPUS` that
 * the file does not name is looked for in the file's own name.
 * @throws InputError with the file and the line of what is wrong, or when it holds no times.
 */
std::vector<NcclTestsRun> ReadNcclTests(const std::string& path);

/** The operation that @p text names as nccl-tests' programs do (all_reduce_perf); the longest. */
std::optional<CollectiveOp> FindCollectiveOp(const std::string& text);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_NCCL_TESTS_FILE_H
