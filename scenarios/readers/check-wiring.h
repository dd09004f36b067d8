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
 * Refuses a cluster of more than 2^18 GPUs, which would take minutes to wire, and one whose
 * devices, links and paths would not fit this machine's memory: some 10 kB a GPU.
 * @param where the number of nodes stands, for messages
 * @throws InputError that says how many or how much it would take.
 */
void CheckMemory(const ClusterSpec& cluster, const std::string& where = "nodes");

/**
 * Similarly a fabric whose own switches and wires, however few nodes there are, would not fit.
 * @throws std::invalid_argument "fabric.kind: ..."
 */
void CheckFabricMemory(const ClusterSpec& cluster);

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
