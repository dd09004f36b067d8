// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_RESULT_OPTION_H
#define WEIR_SCENARIOS_COMMAND_RESULT_OPTION_H

#include "scenarios/results/recorder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI
{
class App;
} // namespace CLI

namespace weir
{

class OutputFile;

/** Options for the result files of a verb without a scenario. */
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
 * Whether @p csv is standard output, in which case nothing else is printed there.
 * @throws InputError where @p json is printed there as well.
 */
bool IsStandardOutput(const std::string& csv, bool json);

/**
 * Opens the file of --csv; null where there is none, or it is standard output.
 * @param inputs files that it must not replace
 * @throws InputError as IsStandardOutput and OpenOutput, and where it is an input or the result.
 */
std::unique_ptr<OutputFile> OpenCsv(const std::string& csv,
                                    bool json,
                                    const ResultOptions& result,
                                    const std::vector<std::string>& inputs = {});

/**
 * Reads what to record.
 * @param title of the result
 * @param verb whose given options are added to the provenance
 * @param inputs values that the result depends on, given or default, as key and text for provenance
 * @throws InputError when a bin width is not above zero or has no file, or for a port series
 *         without packets.
 */
RecordingSpec ReadResultOptions(const ResultOptions& options,
                                const std::string& title,
                                Fidelity fidelity,
                                const CLI::App& verb,
                                std::vector<std::pair<std::string, std::string>> inputs);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_RESULT_OPTION_H
