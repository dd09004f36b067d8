// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_EVENT_H
#define WEIR_SCENARIOS_READERS_READ_EVENT_H

#include "scenarios/scenario.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Something that happens, with the keys of its kind:
 *  - {kind: degrade, at, from, to, factor}, factor in [0, 1]
 *  - {kind: link-down, at, from, to}
 *  - {kind: slow-gpu, gpu, factor}, factor at least 1; holds for the whole run
 *  - {kind: background, at, from, to, bytes}
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
EventSpec ReadEvent(const YamlNode& node, uint64_t seed);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_EVENT_H
