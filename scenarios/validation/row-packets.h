// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_ROW_PACKETS_H
#define WEIR_SCENARIOS_VALIDATION_ROW_PACKETS_H

#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/readers/located-lines.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * How packets move in a run of a suite: the map @p network (ReadPackets), of which the row at which
 * @p lines is replaces the keys that @p columns name from @p first on, where it is not empty.
 * @throws InputError at the row.
 */
PacketSpec ReadRowPackets(const LocatedLines& lines,
                          const std::vector<std::string>& columns,
                          std::size_t first,
                          const YamlNode& network);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_ROW_PACKETS_H
