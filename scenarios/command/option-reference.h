// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_OPTION_REFERENCE_H
#define WEIR_SCENARIOS_COMMAND_OPTION_REFERENCE_H

#include <string>

namespace CLI
{
class App;
} // namespace CLI

namespace weir
{

/** The manual page of @p application and all its verbs, as roff (man(7)). */
std::string ManPage(const CLI::App& application);

/** A completion of bash: verbs, options, files, and names of the catalogue by `weir list`. */
std::string BashCompletion(const CLI::App& application);

/**
 * The verbs as a JSON array of {verb, help, footer, options: [{names, value, help, required}]},
 * verbs of verbs as "kernel gemm".
 */
std::string OptionsAsJson(const CLI::App& application);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_OPTION_REFERENCE_H
