// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_RESULT_OPTION_H
#define WEIR_SCENARIOS_COMMAND_RESULT_OPTION_H

#include "scenarios/results/recording-spec.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** The result file that a user asks a verb without a scenario for. */
struct ResultOptions
{
    std::string file;     //!< empty: none
    std::string timeline; //!< file; empty: none
    std::string series;   //!< width of a bin of the link series; empty: no series
    std::string ports;    //!< width of a bin of the port series; empty: no series
};

/** Adds `-o, --output FILE`, `--timeline FILE`, `--link-series TIME` and `--port-series TIME`. */
void AddResultOptions(CLI::App& verb, ResultOptions& options);

/** Adds `--csv FILE` with @p columns, or `-`, to @p verb. */
void AddCsvOption(CLI::App& verb, std::string& csv, const std::string& columns);

/**
 * Whether @p csv is standard output, on which nothing else is printed then.
 * @throws InputError where @p json is printed there, too.
 */
bool IsStandardOutput(const std::string& csv, bool json);

/**
 * What is to be kept.
 * @param title of the result
 * @param verb whose options were given: they are in the provenance, too
 * @param inputs what the result depends on whether it was given or not, key by key, for provenance
 * @throws InputError when a series is no time above zero or has no file, or that of ports no
 *         packets.
 */
RecordingSpec ReadResultOptions(const ResultOptions& options,
                                const std::string& title,
                                Fidelity fidelity,
                                const CLI::App& verb,
                                std::vector<std::pair<std::string, std::string>> inputs);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_RESULT_OPTION_H
