// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_CHECK_OVERRULED_H
#define WEIR_SCENARIOS_READERS_CHECK_OVERRULED_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * Throws at a key of the map `node:` that a topology file overrules: one that was written, not
 * inherited, and says otherwise than the file has it.
 * @param given what @p node says. @param wired what it is with the file.
 * @throws InputError with the place of the key.
 */
void CheckOverruled(const YamlNode& node, const NodeSpec& given, const NodeSpec& wired);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_CHECK_OVERRULED_H
