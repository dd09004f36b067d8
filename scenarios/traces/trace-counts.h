// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_COUNTS_H
#define WEIR_SCENARIOS_TRACES_TRACE_COUNTS_H

#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <string>

namespace weir
{

/**
 * What @p file holds, for the terminal: its dialect, nodes, kernels, first and last time, calls by
 * operation and group with their bytes, what is dropped and why, defaults taken.
 */
std::string DescribeCounts(const TraceFile& file);

/** The same as an object: file, dialect, ranks, nodes, kernels, first_us, last_us, calls, dropped,
 * dangling, remarks. */
Json CountsToJson(const TraceFile& file);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_COUNTS_H
