// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_CHAKRA_TRACE_H
#define WEIR_SCENARIOS_TRACES_CHAKRA_TRACE_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <string>

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

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_CHAKRA_TRACE_H
