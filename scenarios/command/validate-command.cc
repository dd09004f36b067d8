// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/simulation-loop.h"
#include "scenarios/progress.h"
#include "scenarios/validate.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <unistd.h>

namespace weir
{

namespace
{

struct ValidateOptions
{
    std::vector<std::string> suites;
    std::string output;
};

std::vector<ValidationSuite>
LoadSuites(const ValidateOptions& options)
{
    const Catalog catalog;
    std::vector<std::string> names = options.suites;
    if (names.empty())
    {
        for (const auto& entry : catalog.List(CatalogKind::Suites))
        {
            names.push_back(entry.name);
        }
    }
    std::vector<ValidationSuite> suites;
    for (const auto& name : names)
    {
        suites.push_back(LoadSuite(name, catalog));
    }
    return suites;
}

SuiteOutcome
RunShowingProgress(const ValidationSuite& suite)
{
    ProgressLine line(std::cerr, isatty(STDERR_FILENO) == 1, suite.title);
    return RunSuite(suite, MakeEngineLoop, [&](Time now) {
        line.Update(now);
        ThrowIfInterrupted();
    });
}

ExitCode
Validate(const ValidateOptions& options)
{
    const auto suites = LoadSuites(options);
    std::optional<Hdf5File> file;
    if (!options.output.empty())
    {
        file.emplace(options.output, "--output");
    }
    std::vector<SuiteOutcome> outcomes;
    std::size_t cases = 0;
    std::size_t within = 0;
    for (const auto& suite : suites)
    {
        outcomes.push_back(RunShowingProgress(suite));
        std::cout << ToText(outcomes.back()) << std::flush;
        for (const auto& one : outcomes.back().cases)
        {
            cases++;
            within += one.IsWithinTolerance() ? 1 : 0;
        }
    }
    std::cout << within << " of " << cases << " cases within tolerance\n";
    if (file)
    {
        WriteOutcomes(*file, outcomes);
        file->Commit();
    }
    return within == cases ? ExitCode::Done : ExitCode::CheckFailed;
}

} // namespace

Command
AddValidateCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("validate", "Compare with published measurements");
    auto options = std::make_shared<ValidateOptions>();
    verb->add_option("SUITE", options->suites, "Suites to run, as weir list suites (default: all)");
    verb->add_option("-o,--output", options->output, "Write the outcome to this HDF5 file");
    verb->footer(
        "Examples:\n"
        "  weir validate\n"
        "  weir validate korthikanti-2022 -o validation.h5\n"
        "Exit code 1: a case lies outside its tolerance.");
    return {verb, [options] { return Validate(*options); }};
}

} // namespace weir
