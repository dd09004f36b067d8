// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_PYTORCH_TRACE_H
#define WEIR_SCENARIOS_TRACES_PYTORCH_TRACE_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <string>

namespace weir
{

/**
 * Reads a PyTorch ExecutionTrace ("host trace", schemas 1.0.1 to 1.1.1). A collective has four
 * views in it: c10d, record_param_comms, nccl annotation and kernel. Each record_param_comms
 * becomes one event. The trace has no times.
 * @throws InputError with the file and the node.
 */
TraceFile ReadExecutionTrace(const Json& root, const std::string& path);

/**
 * Reads a Kineto trace: the GPU's kernels, copies and collectives of one rank, in stream order. The
 * main stream is the one with the most kernels. Collectives, and kernels of other streams, depend
 * on the last kernel of the main stream that was launched before them and ended before they began.
 * A kernel depends on the last such collective if the CPU called cudaStreamWaitEvent before its
 * launch, or if its stream was idle before it.
 * @throws InputError with the file and the event.
 */
TraceFile ReadKineto(const TraceBytes& file);

/**
 * Adds group, sequence and sizes, which only the host trace has, to the collectives of @p kernels,
 * the kernel trace of the same rank. They are joined by rf_id. If no rf_id matches, collectives of
 * the same operation are joined in order, provided that the number in the kernel trace is a
 * multiple of that in the host trace.
 */
void JoinHostTrace(const TraceFile& host, TraceFile& kernels);

/**
 * Numbers of a list, or of a list as text, "[1, 2]"; none for abbreviated text, "[0, ..., 9]".
 * @throws InputError
 */
std::vector<int64_t> NumbersOf(const Json& value, const std::string& location);

/**
 * Sets the splits of @p event in bytes if it is an all-to-all with uneven parts.
 * @param inParts sizes sent to each rank, along dimension 0
 * @param outParts sizes received from each rank, along dimension 0
 */
void SetSplits(TraceEvent& event,
               const std::vector<int64_t>& inParts,
               const std::vector<int64_t>& outParts);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_PYTORCH_TRACE_H
