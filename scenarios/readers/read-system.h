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

/** A machine: the cluster and what its GPUs are. */
struct SystemDescription
{
    ClusterSpec cluster;
    Gpu gpu;
};

/**
 * A system: a name or path of the catalogue, or a map {name, nodes, node, fabric}, with `base:` or
 * without; see scenarios/systems for the keys. `node.gpu` is found in the catalogue too.
 *
 * `topology: FILE.xml` takes the node's wiring from an NCCL topology file and what that leaves
 * unsaid from `node`. The path of such a file alone is a system of one node.
 * @throws InputError with the place of what is missing, unknown, out of range or without a source.
 */
SystemDescription ReadSystem(const YamlNode& node, const Catalog& catalog);

/**
 * The system that @p option of a command names, with @p settings, "key.path=value", over it.
 * @throws InputError at a setting that Set refuses, or of an NCCL topology file, which has no keys.
 */
YamlNode SystemArgument(const std::string& text,
                        const std::string& option,
                        const std::vector<std::string>& settings);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_SYSTEM_H
