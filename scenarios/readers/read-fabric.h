// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_FABRIC_H
#define WEIR_SCENARIOS_READERS_READ_FABRIC_H

#include "fabric/kinds/fabric-kind.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Reads the map `fabric:` of a system. Each fabric kind and each routing has its own keys; those of
 * another one are errors, unless they were inherited from a file other than that of `kind`.
 * @param nic of the nodes: default profile of links between switches
 * @param kinds that `kind` may name
 * @throws InputError at what is missing, unknown, out of range or without a source.
 */
FabricSpec ReadFabric(const YamlNode& node,
                      const LinkProfile& nic,
                      const FabricKindRegistry& kinds);

/**
 * Sets the routing policy of @p fabric to the one that @p node names, with its default values.
 * @param kinds named in the message when @p fabric cannot use the policy
 * @throws InputError at @p node when the policy is unknown, or this kind of fabric cannot use it.
 */
void ReadRouting(const YamlNode& node, FabricSpec& fabric, const FabricKindRegistry& kinds);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_FABRIC_H
