// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_WRITERS_WRITE_SYSTEM_H
#define WEIR_SCENARIOS_WRITERS_WRITE_SYSTEM_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/yaml/yaml-writer.h"

namespace weir
{

/** The keys of @p profile, into a map that is open. */
void WriteProfile(YamlWriter& out, const LinkProfile& profile);

/** Writes @p node as the map `node:` of a system; ReadNode reads it back equal. */
void WriteNode(YamlWriter& out, const NodeSpec& node);

/** The keys of routing of @p fabric, into a map that is open. */
void WriteRouting(YamlWriter& out, const FabricSpec& fabric);

/** Writes @p cluster under @p key as a system without `base:`; ReadSystem reads it back equal. */
void WriteSystem(YamlWriter& out, const char* key, const ClusterSpec& cluster);

/** As WriteSystem, into a map that is open. */
void WriteSystemKeys(YamlWriter& out, const ClusterSpec& cluster);

} // namespace weir

#endif // WEIR_SCENARIOS_WRITERS_WRITE_SYSTEM_H
