// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_FORMATS_H
#define WEIR_SCENARIOS_TRACES_TRACE_FORMATS_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <string>

/**
 * @file
 * Readers of the formats that ReadTrace detects, one source file each (NCCL's outputs: one for
 * both); GOAL schedules, which are
 * written as well, are in goal-schedule.h.
 */
namespace weir
{

/** Whether @p bytes begin like a stream of protobuf messages with Chakra's GlobalMetadata. */
bool IsChakra(const std::string& bytes);

/**
 * Reads a Chakra execution trace of one rank (mlcommons/chakra, schema/protobuf/et_def.proto of
 * 2023-10 or later): messages with varint lengths, GlobalMetadata first, then nodes. CPU nodes
 * become compute events of the host.
 * @throws InputError with the file and the node where the file is damaged, has an older schema, or
 *         repeats an id.
 */
TraceFile ReadChakra(const TraceBytes& file, const TraceOptions& options);

/** Reads Chakra's JSON form, an object with `workload_graph`. @throws as ReadChakra. */
TraceFile ReadChakraJson(const Json& root, const std::string& path, const TraceOptions& options);

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
 * Adds group and sizes, which only the host trace has, to the collectives of @p kernels,
 * the kernel trace of the same rank. They are joined by rf_id. If no rf_id matches, collectives of
 * the same operation are joined in order, provided that the number in the kernel trace is a
 * multiple of that in the host trace.
 */
void JoinHostTrace(const TraceFile& host, TraceFile& kernels);

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
 * data group in weight-gradient passes (without degrees in the header, those of the policies MODEL,
 * DISTRIBUTED_INFERENCE and HYBRID_DLRM in the former use all ranks); the suffixes `_EP` and
 * `_DP_EP` select the expert group and the replicas of experts.
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

/** Whether @p bytes contain a table of nccl-tests, as text or CSV. */
bool IsNcclTests(const std::string& bytes);

/** Lists the runs in an output of nccl-tests (ParseNcclTests); it has no ranks to simulate. */
TraceFile ListNcclTests(const TraceBytes& file);

/** Whether @p bytes contain lines of NCCL_DEBUG=INFO. */
bool IsNcclLog(const std::string& bytes);

/**
 * Lists the content of a log of NCCL_DEBUG=INFO: NCCL's version, communicators by their number of
 * ranks, channels, connections by transport, rings and trees. Prefixes before "NCCL INFO" are
 * ignored. It has no ranks to simulate.
 */
TraceFile ListNcclLog(const TraceBytes& file);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_FORMATS_H
