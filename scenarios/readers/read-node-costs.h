// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_NODE_COSTS_H
#define WEIR_SCENARIOS_READERS_READ_NODE_COSTS_H

#include "collectives/nccl/node-costs.h"
#include "scenarios/yaml/yaml-node.h"

#include <vector>

namespace weir
{

/**
 * {llCall: {value: 5us, source: ...}, ...}: per-message overheads, by the keys of
 * NodeCostFigures; those that are left out keep their defaults.
 * @throws InputError with the place of a key that there is not, a value out of its bounds, and a
 * source that says nothing.
 */
std::vector<NodeCost> ReadNodeCosts(const YamlNode& node);

/** The same of an architecture, host or transport, whose figures may have the `clock` of SMs or the
 * rate of a `port` that they hold for. */
std::vector<CostFigure> ReadCostFigures(const YamlNode& node);

/** "us", "GB/s" or "B"; nothing of a factor. */
const char* UnitName(NodeCostUnit unit);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_NODE_COSTS_H
