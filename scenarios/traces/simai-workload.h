// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_SIMAI_WORKLOAD_H
#define WEIR_SCENARIOS_TRACES_SIMAI_WORKLOAD_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"

namespace weir
{

/** Whether @p bytes begin with a policy of SimAI's or ASTRA-sim 1.0's workload text. */
bool IsSimAi(const std::string& bytes);

/**
 * Reads a SimAI (AICB, ASTRA-sim 1.0) workload text: layers with compute times in nanoseconds and
 * collectives of three passes. One rank stands for all: forward passes downwards, each layer's
 * collective before the next layer; then upwards the weight gradient, whose collective nothing
 * waits for but the end of the step, and the input gradient, whose collective the next layer waits
 * for; as often as the header's `ga` says. Of the policy MICRO rows run one after the other.
 *
 * A bare collective of a forward or input-gradient pass is of the tensor group, one of a weight
 * gradient of the data group; `_EP` and `_DP_EP` name the expert group and the replicas of experts.
 * @throws InputError with file and line.
 */
TraceFile ReadSimAi(const TraceBytes& file, const TraceOptions& options);

/** Whether @p bytes begin as an AICB CSV does: `comm_type,comm_group,`, perhaps below a line of
 * ranks. */
bool IsAicb(const std::string& bytes);

/**
 * Reads a CSV of AICB's physical runs: the rows of one rank, which stands for all, in their order,
 * one after the other. @throws InputError with file and line.
 */
TraceFile ReadAicb(const TraceBytes& file, const TraceOptions& options);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_SIMAI_WORKLOAD_H
