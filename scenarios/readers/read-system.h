// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_SYSTEM_H
#define WEIR_SCENARIOS_READERS_READ_SYSTEM_H

#include "compute-model/kernels/gpu.h"
#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/** A machine: the cluster and its GPU model. */
struct SystemDescription
{
    ClusterSpec cluster;
    Gpu gpu;
};

/**
 * Reads a system: a name or path of the catalog, or a map {name, nodes, node, fabric}, with or
 * without `base:`; see scenarios/systems for the keys. `node.gpu` names a GPU of the catalog.
 *
 * `topology: FILE.xml` takes the node's wiring from an NCCL topology file, and what the file lacks
 * from `node`. The path of such a file by itself is a system of one node.
 * @throws InputError at what is missing, unknown, out of range or without a source.
 */
SystemDescription ReadSystem(const YamlNode& node, const Catalog& catalog);

/**
 * The system @p text that @p option names, with @p settings, "key.path=value", applied to it.
 * @throws InputError at a setting that Set refuses, or any of an NCCL topology, which has no keys.
 */
YamlNode SystemArgument(const std::string& text,
                        const std::string& option,
                        const std::vector<std::string>& settings);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_SYSTEM_H
