// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_FABRIC_H
#define WEIR_SCENARIOS_READERS_READ_FABRIC_H

#include "fabric/kinds/fabric-kinds.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * The map `fabric:` of a system. Each kind and each routing has keys of its own; those of another
 * are errors, unless they come from a base in another file than `kind`.
 * @param nic of the nodes: links between switches are like it where nothing else is said.
 * @param kinds that `kind` may name.
 * @throws InputError with the place of what is missing, unknown, out of range or without a source.
 */
FabricSpec ReadFabric(const YamlNode& node,
                      const LinkProfile& nic,
                      const FabricKindRegistry& kinds);

/**
 * Gives @p fabric the routing policy that @p node names, with its default values.
 * @param kinds that are named where one of them could have it.
 * @throws InputError at @p node when there is none of that name, or such a fabric cannot have it.
 */
void ReadRouting(const YamlNode& node, FabricSpec& fabric, const FabricKindRegistry& kinds);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_FABRIC_H
