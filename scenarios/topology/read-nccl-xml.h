// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_READ_NCCL_XML_H
#define WEIR_SCENARIOS_TOPOLOGY_READ_NCCL_XML_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/**
 * The node that an NCCL topology file describes (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE; elements and
 * attributes as of src/graph/xml.cc and topo.cc, NCCL 2.30.7).
 *
 * Two dialects: full dumps, with gpu, nvlink, c2c and net elements, and templates of cpu and pci
 * alone, whose GPUs and NICs are told by their PCI class. GPUs are numbered by `dev`, NIC cards by
 * the least `dev` of their nets, PCIe switches in file order. As NCCL does, an unknown link_speed
 * is taken for 8 GT/s and an unknown link_width for 16 lanes.
 *
 * What the file cannot say (packets, latency, reached rates) comes from @p base where that is
 * given, else from the GPU's architecture, the host and the transport in @p catalog. A template
 * needs a base for the GPU, its NVLinks and the ports.
 *
 * @throws InputError "file:line:column: element attribute: found ..., expected ..." on missing
 *         attributes, unknown targets of NVLinks, unequal ends of a bundle, ports of speed zero or
 *         of several speeds, GPUs of several generations, and links that Weir does not model
 *         (xgmi, NVLink to a CPU, pcilink).
 */
NodeSpec ReadNcclXml(const std::string& path,
                     const NodeSpec* base = nullptr,
                     const Catalog& catalog = Catalog());

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_READ_NCCL_XML_H
