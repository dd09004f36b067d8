// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_COLLECTIVE_FIELDS_H
#define WEIR_SCENARIOS_TRACES_COLLECTIVE_FIELDS_H

#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/**
 * @file
 * Fields of collectives that several trace formats share: names of operations, element types and
 * groups, process groups, and the splits of an all-to-all.
 */
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

/**
 * Adds the groups of PyTorch's node "## process_group:init ##": a JSON list of {pg_name, ranks ([]:
 * all), group_size}, possibly quoted or as the only text of a list.
 * @throws InputError for other content.
 */
void ReadProcessGroups(const std::string& text, const std::string& location, RankTrace& rank);

/** Adds the groups of Kineto's distributedInfo.pg_config: {pg_name, ranks, pg_size}. */
void AddProcessGroups(const Json& list, const std::string& location, RankTrace& rank);

/** Reads ASTRA-sim's comm_group.json: {"id": [ranks]}. @throws InputError */
std::map<std::string, std::vector<uint32_t>> ReadGroupFile(const std::string& path);

/**
 * Numbers of 0 to @p max of a list, or of a list as text, "[1, 2]"; none for null and for
 * abbreviated text, "[0, ..., 9]".
 * @throws InputError
 */
std::vector<int64_t> NumbersOf(const Json* value, int64_t max, const std::string& location);

/** Whether @p value is a list that PyTorch has abbreviated: of more than 30 numbers. */
bool IsAbbreviated(const Json* value);

/**
 * Sets the ranks of @p group, whose size is set if it is known, from a list or a list as text. An
 * abbreviated list of evenly spaced ranks is completed, "[0, 8, ..., 504]"; another one, or one of
 * another size than the group's, gives none.
 * @throws InputError
 */
void SetRanks(const Json* value, const std::string& location, TraceGroup& group);

/**
 * Sets the splits of @p event in bytes if it is an all-to-all with uneven parts.
 * @param inParts sizes sent to each rank, along dimension 0
 * @param outParts sizes received from each rank, along dimension 0
 */
void SetSplits(TraceEvent& event,
               const std::vector<int64_t>& inParts,
               const std::vector<int64_t>& outParts);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_COLLECTIVE_FIELDS_H
