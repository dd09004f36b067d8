// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_APPLY_SETTINGS_H
#define WEIR_SCENARIOS_APPLY_SETTINGS_H

#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/** Replaces values by "key.path=value" settings. @throws InputError as YamlNode::Set. */
inline void
ApplySettings(YamlNode& node, const std::vector<std::string>& settings)
{
    for (const std::string& setting : settings)
    {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
        {
            throw InputError("--set " + setting + ": found no key, expected key.path=value");
        }
        node.Set(setting.substr(0, equals), setting.substr(equals + 1));
    }
}

} // namespace weir

#endif // WEIR_SCENARIOS_APPLY_SETTINGS_H
