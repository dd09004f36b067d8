// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_COVERAGE_OPTION_H
#define WEIR_SCENARIOS_COMMAND_COVERAGE_OPTION_H

#include <CLI/CLI.hpp>

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
        ->capture_default_str();
}

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_COVERAGE_OPTION_H
