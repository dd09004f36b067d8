// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H
#define WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/**
 * @file
 * Options that several verbs have.
 */
namespace weir
{

/** Adds --coverage, which fills @p coverage with one that has been calibrated. */
inline void
AddCoverageOption(CLI::App& verb, double& coverage)
{
    verb.add_option("--coverage",
                    coverage,
                    "Of the error bound that a time of analytical or stream has against flow, by "
                    "which auto chooses, too: 0.8, 0.9, 0.95 or 0.99")
        ->check(CLI::IsMember({0.8, 0.9, 0.95, 0.99}))
        ->check([](const std::string& text) { // which the library takes for a member
            return text.empty() ? "found '', expected 0.8, 0.9, 0.95 or 0.99" : std::string();
        })
        ->capture_default_str();
}

/** Adds an option that names a file to write to @p verb; an empty name is refused. */
inline void
AddOutputOption(CLI::App& verb,
                const std::string& names,
                std::string& file,
                const std::string& help)
{
    verb.add_option(names, file, help)->type_name("FILE")->check([](const std::string& name) {
        return name.empty() ? "found '', expected the name of a file" : std::string();
    });
}

/** Adds `--set KEY=VALUE`, once for each value of @p what to replace, to @p verb. */
inline void
AddSettingsOption(CLI::App& verb,
                  std::vector<std::string>& settings,
                  const std::string& what = "the scenario, such as system.nodes=4")
{
    verb.add_option("--set", settings, "Replace a value of " + what + " (repeatable)")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all();
}

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H
