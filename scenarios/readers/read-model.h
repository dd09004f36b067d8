// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_MODEL_H
#define WEIR_SCENARIOS_READERS_READ_MODEL_H

#include "compute-model/models/transformer.h"
#include "compute-model/plan/parallel-plan.h"
#include "scenarios/catalog.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>

namespace weir
{

/**
 * Reads a plan's `expertLoad:`, {capacityFactor} or {imbalance, seed} or {shares}.
 * @throws InputError with the location of what is unknown, out of range or has no effect.
 */
ExpertLoad ReadExpertLoad(const YamlNode& node);

/** The largest width of a layer that readers accept: products of two widths stay below 2^53. */
constexpr int64_t MAX_WIDTH = int64_t{1} << 24;

/** Reads a width from 1 to MAX_WIDTH. @throws InputError otherwise. */
inline uint32_t
ReadWidth(const YamlNode& node)
{
    return node.AsCount(1, MAX_WIDTH);
}

/**
 * Reads a model: a name or path of the catalog, or a map of Transformer's fields, with or without
 * `base:`. Defaults: kvHeads is heads, headDim is hidden / heads, and ffn is 4 x hidden.
 * @throws InputError at what is missing, unknown, out of range or does not divide.
 */
Transformer ReadModel(const YamlNode& node, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_MODEL_H
