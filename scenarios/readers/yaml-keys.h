// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_YAML_KEYS_H
#define WEIR_SCENARIOS_READERS_YAML_KEYS_H

#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

/**
 * @file
 * The keys of YAML files with their meaning, in one list: what the readers accept is what the
 * reference prints. Components that describe their own keys (fabric kinds, packets, parallel plans,
 * costs) are not included.
 */
namespace weir
{

/** A key and its meaning: one sentence with its unit or its choices. */
struct YamlKey
{
    std::string name;
    std::string help;
};

/** The keys of one kind of map. */
struct YamlKeyMap
{
    std::string name; //!< "system", "system.node.nic"
    std::string help; //!< what it describes and where it is used
    std::vector<YamlKey> keys;
};

/** The keys of all maps: runs, systems, GPUs, models, graphs, suites, calibrations. */
const std::vector<YamlKeyMap>& YamlKeyMaps();

/** The key map @p name. @throws std::logic_error when there is none. */
const YamlKeyMap& YamlKeyMapOf(const std::string& name);

/** The names of the keys of the map @p name, in order. @throws std::logic_error as above. */
std::vector<std::string> YamlKeysOf(const std::string& name);

/** The `source:` of a map with figures. @throws InputError when it is missing or empty. */
std::string ReadSource(const YamlNode& node);

/** The `value` of a {value, source} map. @throws InputError as ReadSource, and at other keys. */
YamlNode ReadSourced(const YamlNode& entry);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_YAML_KEYS_H
