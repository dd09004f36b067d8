// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_EXPERTS_H
#define WEIR_SCENARIOS_READERS_READ_EXPERTS_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/yaml/yaml-node.h"

namespace weir
{

/**
 * A model's `experts:`: {count, topK, ffn} and, where it has them, {sharedFfn, firstLayer, every}.
 * @throws InputError with the place of what is missing, unknown or out of range.
 */
ExpertLayers ReadExpertLayers(const YamlNode& node);

/**
 * A plan's `expertLoad:`, {capacityFactor} or {imbalance, seed} or {shares}.
 * @throws InputError with the place of what is unknown, out of range or has no effect.
 */
ExpertLoad ReadExpertLoad(const YamlNode& node);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_EXPERTS_H
