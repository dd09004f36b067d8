// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NCCL_XML_H
#define WEIR_SCENARIOS_TOPOLOGY_NCCL_XML_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/** Class of a CPU at the end of an NVLink. [NCCL's topo.cc, kvDictPciClass] */
constexpr const char* NVLINK_CPU_CLASS = "0x068001";

/**
 * Reads the node of an NCCL topology file (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE; elements and
 * attributes as in src/graph/xml.cc and topo.cc, NCCL 2.30.7).
 *
 * Two dialects are supported: full dumps with gpu, nvlink, c2c and net elements, and templates with
 * only cpu and pci elements, whose GPUs and NICs are identified by their PCI class. GPUs are
 * numbered by `dev`, NIC cards by the lowest `dev` of their nets, PCIe switches in file order. As
 * in NCCL, an unknown link_speed counts as 8 GT/s and an unknown link_width as 16 lanes, and a GPU
 * with NVLinks to its CPU (POWER9) reaches it over them instead of PCIe.
 *
 * Framing, latency and measured share, which the file does not contain, come from @p base if given,
 * otherwise from the GPU's architecture, the host and the transport in @p catalog. A template needs
 * a base for the GPU, its NVLinks and the ports.
 *
 * @throws InputError "file:line:column: element attribute: found ..., expected ..." on missing
 *         attributes, unknown targets of NVLinks, bundles whose ends differ, ports of speed zero or
 *         of different speeds, GPUs of several generations, and links that Weir does not model
 *         (xgmi, pcilink, NVLinks to a CPU beside a NIC on the GPU's PCIe switch).
 */
NodeSpec ReadNcclXml(const std::string& path,
                     const NodeSpec* base = nullptr,
                     const Catalog& catalog = Catalog());

/**
 * Writes the node of @p cluster as an NCCL topology file (a full dump), which NCCL_TOPO_FILE
 * accepts and ReadNcclXml reads back with the same wiring and raw rates. The format cannot
 * represent framing, latencies, measured shares, host bridges and the rate between sockets (which
 * the processor's model implies); they are omitted.
 * @throws InputError when the rate of a PCIe slot matches no generation and number of lanes.
 */
std::string WriteNcclXml(const ClusterSpec& cluster, const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NCCL_XML_H
