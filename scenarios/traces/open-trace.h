// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_OPEN_TRACE_H
#define WEIR_SCENARIOS_TRACES_OPEN_TRACE_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Reads one file of any supported format, detected by content.
 * @throws InputError also for unknown formats.
 */
TraceFile ReadTrace(const TraceBytes& file, const TraceOptions& options);

/**
 * Reads all of @p paths, including archives, in which files of unknown formats are skipped. If @p
 * paths have both the host trace (PyTorch ExecutionTrace) and the kernel trace (Kineto) of a rank,
 * the two are joined (TraceFile::isJoined).
 * @throws InputError
 */
std::vector<TraceFile> ReadTraces(const std::vector<std::string>& paths,
                                  const TraceOptions& options);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_OPEN_TRACE_H
