// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_COLLECTIVE_NAMES_H
#define WEIR_SCENARIOS_TRACES_COLLECTIVE_NAMES_H

#include "collectives/collective.h"
#include "scenarios/traces/trace.h"

#include <string>

namespace weir
{

/**
 * What @p event does by a name of NCCL, PyTorch, AICB or SimAI: "ncclDevKernel_AllReduce_Sum_f32",
 * "_allgather_base", "CommType.all_to_all", "REDUCESCATTER_EP"; separators and case aside. Sets its
 * kind and op. A barrier is an all-reduce (of one element, as PyTorch's NCCL backend has it).
 * @return whether the name says so.
 */
bool SetCallByName(TraceEvent& event, const std::string& name);

/** Bytes of an element by PyTorch's name of its type ("Float", "c10::BFloat16"); 0: unknown. */
int64_t ElementBytes(const std::string& dtype);

/** How waiting is booked for a group that @p name describes: tensor, pipeline, expert, data... */
TimeCategory CategoryOfGroup(const std::string& name);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_COLLECTIVE_NAMES_H
