// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H
#define WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/catalog.h"
#include "scenarios/readers/machine-parts.h"

#include <cstdint>
#include <string>

/**
 * @file
 * What an NCCL topology leaves unsaid of a link: its packets, latency and what is reached of the
 * raw rate. It states generations, lane and link counts and port speeds only. The figures are those
 * of the catalogue's architectures, hosts, transports and GPUs.
 */
namespace weir
{

/** One NVLink of GPUs of a generation: its line rate, NCCL's efficiency. */
LinkProfile DefaultNvLink(const ArchitectureFigures& architecture, bool isSwitched);

/** A PCIe slot: generation 1 to 6, lanes of 1 to 32. */
LinkProfile DefaultPcieSlot(const HostFigures& host, uint32_t generation, uint32_t lanes);

/** NVLink-C2C of that rate, one direction. */
LinkProfile DefaultChipToChip(const ArchitectureFigures& architecture, Rate rate);

/** Between sockets, NCCL's figure for the processor. */
LinkProfile DefaultInterSocket(const HostFigures& host, uint32_t family, uint32_t model);

/** A port of @p speed. */
LinkProfile DefaultPort(Rate speed, const TransportFigures& transport);

/** What a network device of that name speaks; InfiniBand where no transport has such names. */
NetTransport TransportOfDevice(const std::string& device, const Catalog& catalog);

/** A processor that NCCL's table maps to (nearly) that rate between sockets. */
const SocketRate& CpuOf(const HostFigures& host, Rate betweenSockets);

/**
 * The catalogue's GPU for a PCI device id (0x20b0: an A100 SXM of 40 GB), or the typical one of a
 * compute capability where the id is unknown or absent; empty when there is none.
 */
std::string GpuOf(const std::string& pciDevice, uint32_t computeCapability, const Catalog& catalog);

/** The PCI device id of a GPU, a name of the catalogue or a file; empty when it is not known. */
std::string PciDeviceOf(const std::string& gpu, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H
