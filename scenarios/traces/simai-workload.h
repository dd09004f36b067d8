// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_SIMAI_WORKLOAD_H
#define WEIR_SCENARIOS_TRACES_SIMAI_WORKLOAD_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"

namespace weir
{

/**
 * Whether @p bytes begin with a parallelization policy of SimAI's or ASTRA-sim 1.0's workload text.
 */
bool IsSimAi(const std::string& bytes);

/**
 * Reads a SimAI (AICB, ASTRA-sim 1.0) workload text: layers with compute times in nanoseconds and
 * the collectives of three passes. One rank represents all. The forward pass runs the layers in
 * order; each layer's collective precedes the next layer. The backward pass runs them in reverse
 * order: first the weight gradient, whose collective blocks only the end of the step, then the
 * input gradient, whose collective blocks the next layer. This repeats `ga` times as set by the
 * header. With the policy MICRO, rows run one after another.
 *
 * A collective without suffix uses the tensor group in forward and input-gradient passes and the
 * data group in weight-gradient passes; the suffixes `_EP` and `_DP_EP` select the expert group and
 * the replicas of experts.
 * @throws InputError with file and line.
 */
TraceFile ReadSimAi(const TraceBytes& file, const TraceOptions& options);

/**
 * Whether @p bytes begin like an AICB CSV: `comm_type,comm_group,`, possibly after a line of ranks.
 */
bool IsAicb(const std::string& bytes);

/**
 * Reads a CSV of AICB's physical runs: the rows of one rank, which represents all, run one after
 * another in file order.
 * @throws InputError with file and line.
 */
TraceFile ReadAicb(const TraceBytes& file, const TraceOptions& options);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_SIMAI_WORKLOAD_H
