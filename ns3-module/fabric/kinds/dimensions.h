// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DIMENSIONS_H
#define WEIR_FABRIC_DIMENSIONS_H

#include "fabric/ids.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/topology/topology.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Joins the NICs by a torus (Dally, IEEE Trans. Computers 1990): FabricSpec::dimensions are rings
 * of routers, nicsPerRouter NICs on each, in order of nodes, the first dimension fastest.
 *
 * With sizes k_i > 2, N = product of k_i: N routers, n N wires, a diameter of sum floor(k_i / 2)
 * links. A ring of two is one wire, one of one none.
 *
 * @param nics all NICs, by node * nicsPerNode + number.
 * @throws std::invalid_argument when the routers cannot hold the NICs, or a number is out of range.
 */
void WireTorus(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

/**
 * Joins the NICs as a product of dimensions, Ring(k) x FullyConnected(k) x Switch(k), the notation
 * of ASTRA-sim 2.0 (Won et al., ISPASS 2023, section III): each NIC has a router of its own, at
 * the place that its number has in a mixed radix, first dimension fastest; along a dimension the
 * routers that differ in that place only are joined in its way.
 *
 * Where the first dimension is inside the nodes its size is that of a node's GPUs, each with a NIC
 * of its own, and the others join NICs of the same number.
 *
 * @throws std::invalid_argument when the sizes do not multiply to the number of NICs, or the inside
 *         of the nodes is not joined as the first dimension says.
 */
void WireDimensions(Topology& topology, const ClusterSpec& spec, const std::vector<DeviceId>& nics);

/** The nodes that fill a torus or a product of dimensions; 0 when the sizes do not fit nodes. */
uint32_t NodesOfDimensions(const ClusterSpec& spec);

} // namespace weir

#endif // WEIR_FABRIC_DIMENSIONS_H
