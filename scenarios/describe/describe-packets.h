// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_PACKETS_H
#define WEIR_SCENARIOS_DESCRIBE_PACKETS_H

#include "fabric/transport/packet/packet-spec.h"

#include <string>

namespace weir
{

/**
 * Every value of @p spec as the YAML that `--network` and `network:` take, each line with what it
 * is and where its default comes from.
 */
std::string DescribePackets(PacketSpec spec);

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_PACKETS_H
