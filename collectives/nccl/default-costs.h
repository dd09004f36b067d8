// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_NCCL_DEFAULT_COSTS_H
#define WEIR_COLLECTIVES_NCCL_DEFAULT_COSTS_H

#include "fabric/nodes/node-cost.h"
#include "fabric/topology/cluster-spec.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>

/**
 * @file
 * What handing messages over costs where a description does not say otherwise, with sources. These
 * begin with how the figure came from them: measured (it is what was measured), fitted (it makes
 * the model's times those measured), inferred (it is one explanation of what was measured),
 * estimate.
 */
namespace weir
{

using NodeCostArray = std::array<NodeCost, NODE_COST_KINDS>;

/** By architecture: Volta, Ampere, Hopper, Blackwell. */
void AddGpuCosts(uint32_t computeCapability, NodeCostArray& costs);

/** By whose processor it is. */
void AddHostCosts(HostCpu cpu, NodeCostArray& costs);

/** By transport and the rate of a port. */
void AddNicCosts(NetTransport transport, Rate port, NodeCostArray& costs);

} // namespace weir

#endif // WEIR_COLLECTIVES_NCCL_DEFAULT_COSTS_H
