// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_SOURCE_H
#define WEIR_SCENARIOS_READERS_READ_SOURCE_H

#include "scenarios/yaml/yaml-node.h"

#include <string>

namespace weir
{

/**
 * The `source:` of a map with figures: where they come from.
 * @throws InputError when there is none, or it says nothing.
 */
std::string ReadSource(const YamlNode& node);

/**
 * The `value` of a {value, source} map.
 * @throws InputError as ReadSource, and where it has other keys.
 */
YamlNode ReadSourced(const YamlNode& entry);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_SOURCE_H
