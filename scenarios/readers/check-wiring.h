// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_CHECK_WIRING_H
#define WEIR_SCENARIOS_READERS_CHECK_WIRING_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/**
 * Refuses a cluster of more than 2^18 GPUs, which would take minutes to wire, and a cluster whose
 * devices, links and paths (about 10 kB per GPU) exceed the memory of this machine.
 * @param where the key that gives the number of nodes, for messages
 * @throws InputError that states the number of GPUs or the memory needed.
 */
void CheckMemory(const ClusterSpec& cluster, const std::string& where = "nodes");

/**
 * Refuses a fabric whose own switches and wires exceed the memory of this machine, whatever the
 * number of nodes.
 * @throws std::invalid_argument "fabric.kind: ..."
 */
void CheckFabricMemory(const ClusterSpec& cluster);

/**
 * Wires @p cluster, read from @p reference, once as a check: whether a fabric has room for its
 * nodes is known only when the number of nodes is. O(devices and links).
 * @return notes on values written in @p reference that the wired fabric does not have
 * @throws InputError at the key that does not fit, or at the map that contains it.
 */
std::vector<std::string> CheckWiring(const YamlNode& reference,
                                     const Catalog& catalog,
                                     const ClusterSpec& cluster);

/**
 * Reports @p message ("fabric.sizes: ...") at the location in @p system of the key that it names.
 * @throws InputError always.
 */
[[noreturn]] void FailAtField(const YamlNode& system, const std::string& message);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_CHECK_WIRING_H
