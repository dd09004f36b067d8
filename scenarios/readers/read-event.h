// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_EVENT_H
#define WEIR_SCENARIOS_READERS_READ_EVENT_H

#include "scenarios/scenario.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Reads an event, with the keys of its kind. Events on a link take a time `at` and the link's ends
 * `from` and `to`, and may recur (`every`, `times`):
 * - {kind: degrade, factor}, factor in [0, 1]
 * - {kind: lossy-link, loss}, loss in [0, 1)
 * - {kind: link-down} and {kind: link-up}
 * - {kind: link-flap, down, up, times}
 * - {kind: background, bytes}: a flow between two devices
 *
 * Other events:
 * - {kind: random-failures, links, meanTimeToFailure, meanTimeToRepair, seed}
 * - {kind: slow-gpu, gpu, factor}, factor at least 1, for the whole run
 * @param seed of random failures that give none
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
EventSpec ReadEvent(const YamlNode& node, uint64_t seed);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_EVENT_H
