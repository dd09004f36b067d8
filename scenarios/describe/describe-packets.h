// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_DESCRIBE_PACKETS_H
#define WEIR_SCENARIOS_DESCRIBE_DESCRIBE_PACKETS_H

#include "fabric/transport/packet/packet-spec.h"

#include <string>

namespace weir
{

/** Writes @p spec as YAML of `network:`, each value with its meaning and its default's source. */
std::string DescribePackets(PacketSpec spec);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_DESCRIBE_PACKETS_H
