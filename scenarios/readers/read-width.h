// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_WIDTH_H
#define WEIR_SCENARIOS_READERS_READ_WIDTH_H

#include "scenarios/yaml/yaml-node.h"

#include <cstdint>

namespace weir
{

/** The largest width of a layer that readers accept: products of two widths stay below 2^53. */
constexpr int64_t MAX_WIDTH = int64_t{1} << 24;

/** A width from 1 to MAX_WIDTH. @throws InputError otherwise. */
inline uint32_t
ReadWidth(const YamlNode& node)
{
    return node.AsCount(1, MAX_WIDTH);
}

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_WIDTH_H
