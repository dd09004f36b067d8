// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_EVENT_H
#define WEIR_SCENARIOS_READERS_READ_EVENT_H

#include "scenarios/scenario.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Reads an event, with the keys that the maps "event (KIND)" of YamlKeyMaps list for its kind.
 * @param seed of random failures that give none
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
EventSpec ReadEvent(const YamlNode& node, uint64_t seed);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_EVENT_H
