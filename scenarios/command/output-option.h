// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_OUTPUT_OPTION_H
#define WEIR_SCENARIOS_COMMAND_OUTPUT_OPTION_H

#include <CLI/CLI.hpp>
#include <string>

namespace weir
{

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

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_OUTPUT_OPTION_H
