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
 * The keys of a system file in which @p back, which was written and read again, differs from @p
 * there, by map: "fabric; node.nvlink (latency, source)"; empty when nothing differs. Names are
 * ignored, and so is whether slots are listed or evenly spread.
 */
std::string LostKeys(const ClusterSpec& there, const ClusterSpec& back);

enum class TopologyFormat : uint8_t
{
    Yaml,    //!< a system of Weir: complete
    NcclXml, //!< one node: wiring and raw rates
    GraphMl  //!< devices and links; a node can be read back
};

/**
 * The format for the file name extension of @p path.
 * @throws InputError when it is none of .yaml, .xml, .graphml.
 */
TopologyFormat FormatOf(const std::string& path);

/**
 * Reads a system of the catalog or a file in any of the formats.
 * @param base a system that supplies what NCCL XML or GraphML omits; empty: none
 * @throws InputError with the location of the error.
 */
ClusterSpec ReadTopology(const std::string& nameOrPath,
                         const std::string& base,
                         const Catalog& catalog);

/** Serializes @p cluster. @throws InputError when the format cannot represent it. */
std::string WriteTopology(const ClusterSpec& cluster, TopologyFormat format);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_CONVERT_TOPOLOGY_H
