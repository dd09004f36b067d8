// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_NETWORK_USE_NOTES_H
#define WEIR_SCENARIOS_READERS_NETWORK_USE_NOTES_H

#include "scenarios/scenario.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * A line for each key of @p network, the `network` that @p scenario was read from, which has no
 * effect by its fidelity and jobs. These are no faults: the same file may be run in another
 * fidelity.
 */
std::vector<std::string> NotesOnNetworkUse(const YamlNode& network, const Scenario& scenario);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_NETWORK_USE_NOTES_H
