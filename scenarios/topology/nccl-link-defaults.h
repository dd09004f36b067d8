// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H
#define WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H

#include "scenarios/catalog.h"
#include "scenarios/readers/machine-parts.h"

#include <cstdint>
#include <string>

/**
 * @file
 * Defaults for link properties that an NCCL topology omits: framing, latency and achieved share of
 * the raw rate. It states only generations, lane and link counts and port speeds. The values are
 * those of the catalog's architectures, hosts, transports and GPUs.
 */
namespace weir
{

/** One NVLink of a GPU generation: raw rate, framing, and the share that NCCL's rate implies. */
LinkProfile DefaultNvLink(const ArchitectureFigures& architecture, bool isSwitched);

/** A PCIe slot: generation 1 to 6, 1 to 32 lanes. */
LinkProfile DefaultPcieSlot(const HostFigures& host, uint32_t generation, uint32_t lanes);

/** NVLink-C2C of @p rate in one direction. */
LinkProfile DefaultChipToChip(const ArchitectureFigures& architecture, Rate rate);

/** The link between sockets, with NCCL's rate for the processor. */
LinkProfile DefaultInterSocket(const HostFigures& host, uint32_t family, uint32_t model);

/** A network port of raw rate @p speed. */
LinkProfile DefaultPort(Rate speed, const TransportFigures& transport);

/** The transport whose device name prefix matches @p device; InfiniBand if none does. */
NetTransport TransportOfDevice(const std::string& device, const Catalog& catalog);

/** The processor whose rate between sockets in NCCL's table is closest to @p betweenSockets. */
const SocketRate& CpuOf(const HostFigures& host, Rate betweenSockets);

/**
 * The catalog's GPU for a PCI device id (0x20b0: A100 SXM 40 GB). If the id is unknown or absent,
 * the typical GPU of the compute capability; empty if there is none.
 */
std::string GpuOf(const std::string& pciDevice, uint32_t computeCapability, const Catalog& catalog);

/** The PCI device id of a GPU, given by catalog name or file; empty if unknown. */
std::string PciDeviceOf(const std::string& gpu, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H
