// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_COLLECTIVE_NAMES_H
#define WEIR_SCENARIOS_TRACES_COLLECTIVE_NAMES_H

#include "collectives/collective.h"
#include "scenarios/traces/trace.h"

#include <string>

namespace weir
{

/**
 * Sets kind and op of @p event from a name of NCCL, PyTorch, AICB or SimAI:
 * "ncclDevKernel_AllReduce_Sum_f32", "_allgather_base", "CommType.all_to_all", "REDUCESCATTER_EP".
 * Ignores separators and case. A barrier is an all-reduce (of one element, as in PyTorch's NCCL
 * backend).
 * @return whether the name contains an operation.
 */
bool SetCallByName(TraceEvent& event, const std::string& name);

/** Bytes per element for PyTorch's type name ("Float", "c10::BFloat16"); 0: unknown. */
int64_t ElementBytes(const std::string& dtype);

/**
 * Category of the waiting time for a group with the description @p name: tensor, pipeline, expert,
 * data...
 */
TimeCategory CategoryOfGroup(const std::string& name);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_COLLECTIVE_NAMES_H
