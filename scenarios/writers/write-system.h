// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_SYSTEM_H
#define WEIR_SCENARIOS_WRITERS_WRITE_SYSTEM_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** Writes the keys of @p profile into an open map. */
void WriteProfile(YamlWriter& out, const LinkProfile& profile);

/** Writes @p node as the map `node:` of a system; ReadNode reads it back unchanged. */
void WriteNode(YamlWriter& out, const NodeSpec& node);

/** Writes the routing keys of @p fabric into an open map. */
void WriteRouting(YamlWriter& out, const FabricSpec& fabric);

/** Writes @p cluster as a system without `base:` into an open map; ReadSystem reads it back. */
void WriteSystem(YamlWriter& out, const ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_SYSTEM_H
