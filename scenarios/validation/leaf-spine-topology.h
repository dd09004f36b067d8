// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VALIDATION_LEAF_SPINE_TOPOLOGY_H
#define WEIR_SCENARIOS_VALIDATION_LEAF_SPINE_TOPOLOGY_H

#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/**
 * Hosts, the first devices, as many on each leaf as on any other, and every leaf with a link to
 * every spine; all links have one rate and latency.
 * @param hosts a multiple of @p leaves
 */
Topology LeafSpineTopology(
    uint32_t hosts, uint32_t leaves, uint32_t spines, Rate rate, Time latency);

} // namespace weir

#endif // WEIR_SCENARIOS_VALIDATION_LEAF_SPINE_TOPOLOGY_H
