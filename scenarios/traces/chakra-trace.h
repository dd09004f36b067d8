// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_CHAKRA_TRACE_H
#define WEIR_SCENARIOS_TRACES_CHAKRA_TRACE_H

#include "scenarios/traces/trace-bytes.h"
#include "scenarios/traces/trace.h"
#include "scenarios/workload/json-fields.h"

#include <string>

namespace weir
{

/** Whether @p bytes begin as a stream of protobuf messages with Chakra's GlobalMetadata does. */
bool IsChakra(const std::string& bytes);

/**
 * Reads a Chakra execution trace of one rank (mlcommons/chakra, schema/protobuf/et_def.proto of
 * 2023-10 and later): varint lengths and messages, GlobalMetadata first, then nodes. CPU nodes are
 * compute events of the host.
 * @throws InputError with the file and the node at what is damaged, of an older schema, or refers
 * to itself.
 */
TraceFile ReadChakra(const TraceBytes& file, const TraceOptions& options);

/** Reads its JSON twin, an object with `workload_graph`. @throws similarly. */
TraceFile ReadChakraJson(const Json& root, const std::string& path, const TraceOptions& options);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_CHAKRA_TRACE_H
