// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_CONVERT_TOPOLOGY_H
#define WEIR_SCENARIOS_TOPOLOGY_CONVERT_TOPOLOGY_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <cstdint>
#include <string>

namespace weir
{

/**
 * What of @p there is otherwise in @p back, which was written in some format and read again: key
 * paths of a system file, those of one map together, as "fabric; node.nvlink (latency, source)";
 * empty when nothing is. Names do not count, nor whether slots are listed or even.
 */
std::string LostKeys(const ClusterSpec& there, const ClusterSpec& back);

/** How a topology is written down. */
enum class TopologyFormat : uint8_t
{
    Yaml,    //!< a system of Weir: all of it
    NcclXml, //!< one node: wiring and raw rates
    GraphMl  //!< devices and links; a node can be read back
};

/** By the ending of @p path. @throws InputError when it is none of .yaml, .xml, .graphml. */
TopologyFormat FormatOf(const std::string& path);

/**
 * A system of the catalogue, or a file of any of the formats.
 * @param base a system that says what NCCL XML or GraphML leaves out; empty: none.
 * @throws InputError with the place of what is wrong.
 */
ClusterSpec ReadTopology(const std::string& nameOrPath,
                         const std::string& base,
                         const Catalog& catalog);

/** @throws InputError when the format cannot say it. */
std::string WriteTopology(const ClusterSpec& cluster, TopologyFormat format);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_CONVERT_TOPOLOGY_H
