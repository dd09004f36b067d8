// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_TRAFFIC_H
#define WEIR_SCENARIOS_WRITERS_WRITE_TRAFFIC_H

#include "scenarios/traffic/traffic-pattern.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** Writes the map `traffic` of a job as ReadTraffic reads it. */
void WriteTraffic(YamlWriter& out, const TrafficSpec& spec);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_TRAFFIC_H
