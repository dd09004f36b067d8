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
 * Reads a PyTorch ExecutionTrace ("host trace", schemas 1.0.1 to 1.1.1): one collective an event,
 * of its four views c10d, record_param_comms, nccl annotation and kernel the second. There are no
 * times.
 * @throws InputError with the file and the node.
 */
TraceFile ReadExecutionTrace(const Json& root, const std::string& path);

/**
 * Reads a Kineto trace: the GPU's kernels, copies and collectives of one rank, in the order of
 * their streams. A collective waits for what had been launched before it on the stream of most
 * kernels; a kernel for the last collective that had ended where the CPU had called
 * cudaStreamWaitEvent before its launch, or where the stream stood idle until that collective's
 * end.
 * @throws InputError with the file and the event.
 */
TraceFile ReadKineto(const TraceBytes& file);

/**
 * Gives the collectives of @p kernels, of the same rank as @p host, what only the host trace has:
 * group, sequence, sizes. Joined by rf_id; where none is, those of one operation in their order, if
 * the host trace has as many or the kernel trace a multiple.
 */
void JoinHostTrace(const TraceFile& host, TraceFile& kernels);

/** A list, or one in text, "[1, 2]"; none of a text that is cut, "[0, ..., 9]". @throws InputError
 */
std::vector<int64_t> NumbersOf(const Json& value, const std::string& place);

/** Sets the splits of @p event in bytes where they are uneven: parts of dimension 0. */
void SetSplits(TraceEvent& event,
               const std::vector<int64_t>& inParts,
               const std::vector<int64_t>& outParts);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_PYTORCH_TRACE_H
