// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_WRITE_NCCL_XML_H
#define WEIR_SCENARIOS_TOPOLOGY_WRITE_NCCL_XML_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/**
 * Writes the node of @p cluster as an NCCL topology file (a full dump), which NCCL_TOPO_FILE
 * accepts and ReadNcclXml reads back with the same wiring and raw rates. The format cannot
 * represent framing, latencies, measured shares, host bridges and the rate between sockets (which
 * the processor's model implies); they are omitted.
 * @throws InputError when the rate of a PCIe slot matches no generation and number of lanes.
 */
std::string WriteNcclXml(const ClusterSpec& cluster, const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_WRITE_NCCL_XML_H
