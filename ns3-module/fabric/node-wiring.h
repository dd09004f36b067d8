// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NODE_WIRING_H
#define WEIR_FABRIC_NODE_WIRING_H

#include "fabric/cluster-spec.h"
#include "fabric/ids.h"
#include "fabric/topology.h"

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

/**
 * Adds the inside of node number @p node: GPUs, NVLink, PCIe switches, root complexes, NICs.
 *
 * GPUs and NICs each spread evenly and contiguously over the PCIe switches (over the root complexes
 * when there are none), PCIe switches over the root complexes; root complexes are joined pairwise.
 * The NVSwitches of a node are one non-blocking device. @p spec has passed CheckNodeSpec.
 */
NodeDevices WireNode(Topology& topology, const NodeSpec& spec, uint32_t node);

/**
 * By local GPU: all NICs of the node by PCIe hops, nearest first, then by number.
 *
 * Among the nearest, the k-th of the GPUs that share them starts with the k-th of them
 * (cyclically), so that with one NIC per GPU each GPU's first NIC is its own.
 */
std::vector<std::vector<uint32_t>> NearestNicsByGpu(const NodeSpec& spec);

} // namespace weir

#endif // WEIR_FABRIC_NODE_WIRING_H
