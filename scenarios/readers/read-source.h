// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_SOURCE_H
#define WEIR_SCENARIOS_READERS_READ_SOURCE_H

#include "scenarios/yaml/yaml-node.h"

#include <string>

namespace weir
{

/**
 * Reads the `source:` of a map with figures.
 * @throws InputError when it is missing or empty.
 */
std::string ReadSource(const YamlNode& node);

/**
 * Reads the `value` of a {value, source} map.
 * @throws InputError as ReadSource, and at other keys.
 */
YamlNode ReadSourced(const YamlNode& entry);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_SOURCE_H
