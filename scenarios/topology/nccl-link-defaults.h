// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H
#define WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H

#include "fabric/topology/cluster-spec.h"
#include "scenarios/readers/machine-parts.h"

#include <cstdint>
#include <string>

/**
 * @file
 * What an NCCL topology leaves unsaid of a link: its packets, latency and what is reached of the
 * raw rate. It states generations, lane and link counts and port speeds only.
 */
namespace weir
{

/** One NVLink of GPUs of a generation: its line rate, NCCL's efficiency. */
LinkProfile DefaultNvLink(const ArchitectureFigures& architecture, bool isSwitched);

/** A PCIe slot: generation 1 to 6, lanes of 1 to 32. */
LinkProfile DefaultPcieSlot(uint32_t generation, uint32_t lanes);

/** NVLink-C2C of that rate, one direction. */
LinkProfile DefaultChipToChip(Rate rate);

/** Between sockets, NCCL's figure for the processor. */
LinkProfile DefaultInterSocket(HostCpu cpu, uint32_t family, uint32_t model);

/** A port of @p speed. */
LinkProfile DefaultPort(Rate speed, NetTransport transport);

/** What a network device of that name speaks: efa and rdmap EFA, cxi and hsn Slingshot, eth, en and
 * bond TCP, all others (mlx5, ib) InfiniBand, which a file cannot tell from RoCE. */
NetTransport TransportOf(const std::string& device);

/** A processor that NCCL's table maps to (nearly) that rate between sockets: family and model id.
 */
struct CpuModel
{
    uint32_t family;
    uint32_t model;
};

CpuModel CpuOf(HostCpu cpu, Rate betweenSockets);

/**
 * The catalogue's GPU for a PCI device id (0x20b0: an A100 SXM of 40 GB), or for a compute
 * capability where the id is unknown or absent; empty when neither is known.
 */
std::string GpuOf(const std::string& pciDevice, uint32_t computeCapability);

/** The PCI device id of a GPU of the catalogue; empty when it is not known. */
std::string PciDeviceOf(const std::string& gpu);

/** What a transport's network devices are called, before their number: mlx5_, efa, cxi, eth. */
std::string DeviceName(NetTransport transport);

} // namespace weir

#endif // WEIR_SCENARIOS_TOPOLOGY_NCCL_LINK_DEFAULTS_H
