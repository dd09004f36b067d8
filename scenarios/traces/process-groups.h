// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_PROCESS_GROUPS_H
#define WEIR_SCENARIOS_TRACES_PROCESS_GROUPS_H

#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <string>

namespace weir
{

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

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_PROCESS_GROUPS_H
