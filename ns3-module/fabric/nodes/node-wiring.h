// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NODE_WIRING_H
#define WEIR_FABRIC_NODE_WIRING_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The GPUs and NICs of one wired node, by number within the node. */
struct NodeDevices
{
    std::vector<DeviceId> gpus;
    std::vector<DeviceId> nics;
};

/**
 * Checks that a node can be wired as @p spec says.
 * @throws std::invalid_argument naming the field, as "node.sockets: ...".
 */
void CheckNodeSpec(const NodeSpec& spec);

/** The attachment points of all devices with a PCIe slot, complete with defaults. */
struct NodeAttachments
{
    std::vector<PcieAttachment> switches; //!< by PCIe switch
    std::vector<PcieAttachment> gpus;     //!< by GPU
    std::vector<PcieAttachment> cards;    //!< by NIC card
};

/** The attachment points of @p spec. Devices without one are spread evenly; each `link` is set. */
NodeAttachments AttachmentsOf(const NodeSpec& spec);

/** The profiles of all links inside a node of @p spec: NVLink, slots, sockets, NIC port. */
std::vector<const LinkProfile*> NodeProfiles(const NodeSpec& spec);

/**
 * Adds the devices and links inside node @p node: GPUs, NVLink, PCIe switches, root complexes,
 * NICs.
 *
 * GPUs, NIC cards and PCIe switches are attached as AttachmentsOf says. The root complexes of one
 * board are connected pairwise. The NVSwitches of a node are one non-blocking device. The ports of
 * a multi-port card are NICs behind one device, the card, and share its slot. If `nicHostBridge` is
 * given, the sent and received traffic of a card on a socket passes one link of that rate, so that
 * both directions combined cannot exceed it.
 * @param spec must have passed CheckNodeSpec.
 */
NodeDevices WireNode(Topology& topology, const NodeSpec& spec, uint32_t node);

/**
 * By local GPU: all NICs of the node, ascending by PCIe hops, then by number.
 *
 * If n GPUs share the same m nearest NICs, the list of the k-th of these GPUs starts with the NIC
 * at index k * max(1, m / n) of them (cyclically). So with one NIC per GPU, the first NIC of each
 * GPU is its own.
 */
std::vector<std::vector<uint32_t>> NearestNicsByGpu(const NodeSpec& spec);

} // namespace weir

#endif // WEIR_FABRIC_NODE_WIRING_H
