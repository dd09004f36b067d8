// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_CHECK_MEMORY_H
#define WEIR_SCENARIOS_READERS_CHECK_MEMORY_H

#include "fabric/topology/cluster-spec.h"

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

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_CHECK_MEMORY_H
