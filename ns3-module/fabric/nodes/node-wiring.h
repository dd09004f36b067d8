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

/** Where the GPUs and NICs of one wired node are, by their number within the node. */
struct NodeDevices
{
    std::vector<DeviceId> gpus;
    std::vector<DeviceId> nics;
};

/**
 * Throws unless a node can be wired as @p spec says.
 * @throws std::invalid_argument naming the field, as "node.sockets: ...".
 */
void CheckNodeSpec(const NodeSpec& spec);

/** Where everything that has a PCIe slot is attached, with nothing left to even spreading. */
struct NodePlaces
{
    std::vector<PciePlace> switches; //!< by PCIe switch
    std::vector<PciePlace> gpus;     //!< by GPU
    std::vector<PciePlace> cards;    //!< by NIC card
};

/** The places of @p spec, those it leaves empty spread; each `link` is set. */
NodePlaces PlacesOf(const NodeSpec& spec);

/** Every profile that links inside a node of @p spec are made of: NVLink, slots, sockets, NIC port.
 */
std::vector<const LinkProfile*> NodeProfiles(const NodeSpec& spec);

/**
 * Adds the inside of node number @p node: GPUs, NVLink, PCIe switches, root complexes, NICs.
 *
 * GPUs, NIC cards and PCIe switches hang where PlacesOf says; the root complexes of one board are
 * joined pairwise. The NVSwitches of a node are one non-blocking device. The ports of a card with
 * several are NICs behind one device, the card, whose slot they share. Where `nicHostBridge` is
 * given, what a card on a socket sends and receives passes one link of that rate, so both
 * directions together cannot exceed it. @p spec has passed CheckNodeSpec.
 */
NodeDevices WireNode(Topology& topology, const NodeSpec& spec, uint32_t node);

/**
 * By local GPU: all NICs of the node by PCIe hops, nearest first, then by number.
 *
 * Of m nearest NICs that n GPUs share, the k-th GPU starts with number k * max(1, m / n)
 * (cyclically), so that with one NIC per GPU each GPU's first NIC is its own.
 */
std::vector<std::vector<uint32_t>> NearestNicsByGpu(const NodeSpec& spec);

} // namespace weir

#endif // WEIR_FABRIC_NODE_WIRING_H
