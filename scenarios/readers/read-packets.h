// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READ_PACKETS_H
#define WEIR_SCENARIOS_READ_PACKETS_H

#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Reads what packets, queue pairs, switches and links inside nodes do, and the congestion control,
 * from a map that may have keys besides.
 * @param others keys that are not about packets.
 * @throws InputError at a key or value that is wrong.
 */
PacketSpec ReadPackets(const YamlNode& map, const std::vector<std::string>& others = {});

} // namespace weir

#endif // WEIR_SCENARIOS_READ_PACKETS_H
