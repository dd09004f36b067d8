// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_PACKETS_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_PACKETS_H

#include "fabric/transport/packet/packet-spec.h"

#include <string>

namespace weir
{

/**
 * Writes every value of @p spec as YAML for `--network` and `network:`, each line with its meaning
 * and the source of its default.
 */
std::string DescribePackets(PacketSpec spec);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_PACKETS_H
