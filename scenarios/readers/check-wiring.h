// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_CHECK_WIRING_H
#define WEIR_SCENARIOS_READERS_CHECK_WIRING_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>

namespace weir
{

/**
 * Wires @p cluster, which was read from @p reference, once to see whether it can be: a fabric that
 * has no room for its nodes is known only when their number is. O(devices and links).
 * @throws InputError with the place of the key that does not fit, or of what it is part of.
 */
void CheckWiring(const YamlNode& reference, const Catalog& catalog, const ClusterSpec& cluster);

/**
 * Says @p message, "fabric.sizes: ...", of a value that cannot be wired at its place in @p system.
 * @throws InputError always.
 */
[[noreturn]] void FailAtField(const YamlNode& system, const std::string& message);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_CHECK_WIRING_H
