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

/** A measured run in an nccl-tests file; what the file does not state is empty. */
struct NcclTestsRun
{
    std::optional<CollectiveOp> op;
    std::optional<uint32_t> nodes;
    std::optional<uint32_t> gpusPerNode;
    std::optional<LaunchMode> launch;
    std::optional<std::string> ncclVersion;
    std::string opWhere;      //!< location of the operation; empty: the file's name
    std::string devicesWhere; //!< location of the first GPU; empty: the file lists none
    std::map<std::string, std::string> gpus; //!< by name: location of the first GPU with it
    std::vector<Bytes> sizes;                //!< ascending, each once
    std::vector<double> seconds;             //!< of a call, out-of-place; by size
};

/**
 * Reads the runs in a file written by nccl-tests:
 *
 * - Text as printed, with or without mpirun's tags. Columns are found by the names in the table's
 *   header; nodes, GPUs and processes by the device lines. A run ends at its footer, or where the
 *   settings or header of another follow its times.
 * - JSON (`-J`): `results`, `devices`, `args`, `nccl_version`.
 * - CSV with the columns size_bytes (or size) and time_us (or time), and optionally collective (or
 *   op) and in_place, where only rows with 0, false, no or nothing are read; one run per operation.
 *
 * Empty calls and unavailable times are skipped. An operation or `NODESxGPUS` that the file does
 * not state is taken from the file's name.
 * @throws InputError with the file and the line of the error, or when the file holds no times.
 */
std::vector<NcclTestsRun> ReadNcclTests(const std::string& path);

/** As ReadNcclTests, for the content @p text of the file @p path. */
std::vector<NcclTestsRun> ParseNcclTests(const std::string& text, const std::string& path);

/** The operation named in @p text as by nccl-tests (all_reduce_perf); the longest match. */
std::optional<CollectiveOp> FindCollectiveOp(const std::string& text);

} // namespace weir

#endif // WEIR_SCENARIOS_MACHINE_NCCL_TESTS_FILE_H
