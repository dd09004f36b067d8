// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_YAML_KEYS_H
#define WEIR_SCENARIOS_READERS_YAML_KEYS_H

#include <string>
#include <vector>

/**
 * @file
 * The keys of YAML files, each with what it means: what the readers accept and what the reference
 * prints are one list. Keys that components describe themselves (fabric kinds, packets, parallel
 * plans, costs) are not here but in those.
 */
namespace weir
{

/** A key and what it means: one sentence with its unit or its choices. */
struct YamlKey
{
    std::string name;
    std::string help;
};

/** The keys of one kind of map. */
struct YamlKeyMap
{
    std::string name; //!< "system", "system.node.nic"
    std::string help; //!< what it describes and where it stands
    std::vector<YamlKey> keys;
};

/** All of them: runs, systems, GPUs, models, graphs, suites, calibrations. */
const std::vector<YamlKeyMap>& YamlKeyMaps();

/** The one of that name. @throws std::logic_error: no such. */
const YamlKeyMap& YamlKeyMapOf(const std::string& name);

/** The names of the keys of the map @p name, in their order. @throws std::logic_error: no such. */
std::vector<std::string> YamlKeysOf(const std::string& name);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_YAML_KEYS_H
