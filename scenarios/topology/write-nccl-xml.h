// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_WRITE_NCCL_XML_H
#define WEIR_SCENARIOS_TOPOLOGY_WRITE_NCCL_XML_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/**
 * The node of @p cluster as an NCCL topology file (a full dump), which NCCL_TOPO_FILE takes and
 * ReadNcclXml reads back: the same wiring and raw rates. What the format has no place for is left
 * out: packets, latencies, reached rates, host bridges, the rate between sockets (told by the
 * processor's model).
 * @throws InputError when a PCIe slot is no generation and number of lanes.
 */
std::string WriteNcclXml(const ClusterSpec& cluster, const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_WRITE_NCCL_XML_H
