// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_SHARDING_H
#define WEIR_SCENARIOS_READERS_READ_SHARDING_H

#include "compute-model/plan/data-sharding.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * How replicas share a model's state out: one of the words none, optimizer, gradients, full, or a
 * map {state, ranks, reshard, prefetch, everyPass, scatter, overlapGather, perParameter}; see
 * DataSharding.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
DataSharding ReadSharding(const YamlNode& node);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_SHARDING_H
