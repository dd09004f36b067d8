// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_FABRIC_H
#define WEIR_SCENARIOS_READERS_READ_FABRIC_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * The map `fabric:` of a system. Each kind has keys of its own; those of another kind are errors,
 * unless they come from a base in another file than `kind`.
 * @param nic of the nodes: links between switches are like it where nothing else is said.
 * @throws InputError with the place of what is missing, unknown, out of range or without a source.
 */
FabricSpec ReadFabric(const YamlNode& node, const LinkProfile& nic);

/** @throws InputError at @p node, where the routing was named, when such a fabric has it not. */
void CheckRouting(const YamlNode& node, const FabricSpec& fabric);

/**
 * "Ring(4) x FullyConnected(8) x Switch(2)", as ASTRA-sim 2.0 writes it; also the short names R, FC
 * and SW, and '_' or '*' in place of 'x'. "4x4x2" is rings.
 * @throws InputError with the place of @p node.
 */
std::vector<FabricDimension> ReadDimensionText(const YamlNode& node);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_FABRIC_H
