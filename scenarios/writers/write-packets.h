// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITE_PACKETS_H
#define WEIR_SCENARIOS_WRITE_PACKETS_H

#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** Writes @p spec into a map that is open; ReadPackets reads it back equal. */
void WritePackets(YamlWriter& out, PacketSpec spec);

/** The keys of each model of @p spec, into the map that is open. */
void WriteCorrections(YamlWriter& out, CorrectionSpec spec);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITE_PACKETS_H
