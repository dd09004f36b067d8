// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_OPEN_TRACE_H
#define WEIR_SCENARIOS_TRACES_OPEN_TRACE_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"

#include <string>
#include <vector>

namespace weir
{

/** Reads one file of whatever dialect its content is of. @throws InputError, also where of none. */
TraceFile ReadTrace(const TraceBytes& file, const TraceOptions& options);

/**
 * Reads all of @p paths, archives too, of which files of no dialect are passed over. The host trace
 * (PyTorch ExecutionTrace) of a rank whose kernel trace (Kineto) is among them is joined with it
 * (TraceFile::isJoined). @throws InputError
 */
std::vector<TraceFile> ReadTraces(const std::vector<std::string>& paths,
                                  const TraceOptions& options);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_OPEN_TRACE_H
