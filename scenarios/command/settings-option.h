// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_SETTINGS_OPTION_H
#define WEIR_SCENARIOS_COMMAND_SETTINGS_OPTION_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace weir
{

/** Adds `--set KEY=VALUE`, once for each value of a scenario to replace, to @p verb. */
inline void
AddSettingsOption(CLI::App& verb, std::vector<std::string>& settings)
{
    verb.add_option("--set", settings, "Replace a value: key.path=value (repeatable)")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all();
}

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_SETTINGS_OPTION_H
