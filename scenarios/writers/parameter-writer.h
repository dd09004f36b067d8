// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H
#define WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "scenarios/yaml/yaml-writer.h"

#include <string>

namespace weir
{

/** Writes @p spec into an open map; ReadPackets reads it back unchanged. */
void WritePackets(YamlWriter& out, PacketSpec spec);

/** Writes @p spec as YAML of `network:`, each value with its meaning and its default's source. */
std::string DescribePackets(PacketSpec spec);

/** Writes the keys of each correction model of @p spec into an open map. */
void WriteCorrections(YamlWriter& out, CorrectionSpec spec);

void WriteParameter(YamlWriter& out, const std::string& key, const Parameter& parameter);

/** The value of @p parameter as in files; empty if it is omitted or not a single value. */
std::string TextOf(const Parameter& parameter);

/**
 * Writes the parameters of @p component into an open map; ReadParameters reads them back unchanged.
 * Omits unset values: an absent optional count, an unlimited size, an empty link profile.
 */
void WriteParameters(YamlWriter& out, Parameterized& component);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_PARAMETER_WRITER_H
