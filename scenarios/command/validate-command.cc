// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/catalog.h"
#include "scenarios/command/commands.h"
#include "scenarios/command/interruption.h"
#include "scenarios/command/verb-options.h"
#include "scenarios/results/hdf5-file.h"
#include "scenarios/results/output-file.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/validation/validate.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"

#include <CLI/CLI.hpp>
#include <algorithm>
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
    bool allRows{false};
    bool json{false};
    std::string fidelity{ToString(Fidelity::Analytical)};
};

/** Adds a suite unless it is already there. */
void
AddOnce(const std::string& name, std::vector<std::string>& names)
{
    if (std::find(names.begin(), names.end(), name) == names.end())
    {
        names.push_back(name);
    }
}

/**
 * The requested suites, or all that compare with measurements; the members of a group precede it.
 */
std::vector<ValidationSuite>
LoadSuites(const std::vector<std::string>& asked, const Catalog& catalog)
{
    const auto all = catalog.List(CatalogKind::Suites);
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (KindOfSuite(name, catalog) == SuiteKind::Group)
        {
            const SuiteKind members = LoadSuite(name, catalog).members;
            for (const auto& entry : all)
            {
                if (KindOfSuite(entry.name, catalog) == members)
                {
                    AddOnce(entry.name, names);
                }
            }
        }
        AddOnce(name, names);
    };
    for (const std::string& name : asked)
    {
        add(name);
    }
    for (const auto& entry : all)
    {
        if (asked.empty() && KindOfSuite(entry.name, catalog) == SuiteKind::Group)
        {
            add(entry.name);
        }
    }
    std::vector<ValidationSuite> suites;
    for (const std::string& name : names)
    {
        suites.push_back(LoadSuite(name, catalog));
        for (std::size_t i = 0; i + 1 < suites.size(); i++)
        {
            if (suites[i].name == suites.back().name)
            {
                throw InputError("SUITE: found '" + names[i] + "' and '" + name +
                                 "', which are both named '" + suites[i].name +
                                 "', expected suites of different names");
            }
        }
    }
    return suites;
}

SuiteOutcome
RunShowingProgress(const ValidationSuite& suite, const Catalog& catalog, Fidelity fidelity)
{
    std::optional<ProgressLine> line; // for the current part
    std::string part;
    const auto show = [&](const SuiteProgress& current) {
        if (!line || current.part != part)
        {
            part = current.part;
            line.emplace(std::cerr, isatty(STDERR_FILENO) == 1, part.empty() ? suite.title : part);
        }
        line->Update(current.done, current.cases, current.now);
        ThrowIfInterrupted();
    };
    return RunSuite(suite, catalog, MakeEngineLoop, show, fidelity);
}

std::string
SummaryOf(const std::vector<SuiteOutcome>& outcomes)
{
    const auto kept = std::count_if(outcomes.begin(), outcomes.end(), [](const SuiteOutcome& each) {
        return AreMet(each.statements);
    });
    return std::to_string(kept) + " of " + std::to_string(outcomes.size()) +
           " suites: expected and guard met, known failures as stated\n";
}

/**
 * Prints a note for suites on which the fidelity has no effect.
 * @throws InputError where it has no effect on any
 */
void
CheckFidelityUse(const std::vector<ValidationSuite>& suites, Fidelity fidelity)
{
    if (fidelity == Fidelity::Analytical)
    {
        return; // the default
    }
    const std::string found = "--fidelity: found " + std::string(ToString(fidelity));
    std::vector<std::string> without;
    std::size_t with = 0;
    for (const ValidationSuite& suite : suites)
    {
        const SuiteKind kind = suite.kind == SuiteKind::Group ? suite.members : suite.kind;
        const bool hasEffect = kind == SuiteKind::Collectives || kind == SuiteKind::LeftOut;
        with += hasEffect ? 1 : 0;
        if (!hasEffect)
        {
            without.push_back(suite.name);
        }
    }
    if (with == 0)
    {
        throw InputError(found + " for " + JoinNames(without) +
                         ", whose fidelity is fixed, expected it for measured collectives");
    }
    if (!without.empty())
    {
        PrintNotes({found + ", which has no effect on " + JoinNames(without)});
    }
}

ExitCode
Validate(const ValidateOptions& options)
{
    const Fidelity fidelity = ParseFidelityOf("validate", options.fidelity);
    const Catalog catalog;
    const auto suites = LoadSuites(options.suites, catalog);
    CheckFidelityUse(suites, fidelity);
    std::optional<Hdf5File> file;
    if (!options.output.empty())
    {
        file.emplace(options.output, "--output");
        RemoveOutputIfInterrupted(options.output);
    }
    const CaseList list = options.allRows ? CaseList::All : CaseList::Brief;
    std::vector<SuiteOutcome> outcomes;
    for (const auto& suite : suites)
    {
        outcomes.push_back(suite.kind == SuiteKind::Group
                               ? Gather(suite, outcomes)
                               : RunShowingProgress(suite, catalog, fidelity));
        if (!options.json)
        {
            std::cout << ToText(outcomes.back(), list) << std::flush;
        }
    }
    std::cout << (options.json ? ToJson(outcomes, list) + "\n" : SummaryOf(outcomes));
    if (file)
    {
        WriteOutcomes(*file, outcomes);
        file->Commit();
    }
    const bool areKept = std::all_of(
        outcomes.begin(), outcomes.end(), [](const auto& each) { return AreMet(each.statements); });
    return areKept ? ExitCode::Done : ExitCode::CheckFailed;
}

} // namespace

Command
AddValidateCommand(CLI::App& application)
{
    auto* verb = application.add_subcommand("validate", "Compare with published measurements");
    auto options = std::make_shared<ValidateOptions>();
    verb->add_option(
        "SUITE",
        options->suites,
        "Suites to run, as listed by weir list suites; 'steps': all measured training steps; "
        "'nccl': all measured collectives; 'kernels': all measured kernels; 'packets': all "
        "measured runs with packets; 'fidelity': the fidelities compared with each other, 'plans': "
        "closed forms of whole steps compared with streams, 'leave-one-cluster-out': measured "
        "collectives, each cluster predicted from values of the others; 'bound': error bounds of "
        "the shortcuts checked on newly drawn scenarios (default: all measured)");
    verb->add_flag("--json", options->json, "Print one JSON object and nothing else");
    verb->add_flag("--rows", options->allRows, "Also list every case of long suites");
    verb->add_option("--fidelity",
                     options->fidelity,
                     "Fidelity of measured collectives: analytical, stream or flow")
        ->capture_default_str();
    AddOutputOption(*verb,
                    "-o,--output",
                    options->output,
                    "Write the results to this HDF5 file; weir report draws them");
    verb->footer(
        R"(A suite states the expected errors, a guard slightly above the present errors, and known failures,
each with its reason and error.
Examples:
  weir validate
  weir validate korthikanti-2022 -o validation.h5
  weir validate steps --rows
  weir validate nccl --fidelity flow -o nccl.h5
  weir validate kernels --json
Exit code 1: an error exceeds what is expected or the guard, or that of a known failure has changed.)");
    return {verb, [options] { return Validate(*options); }};
}

} // namespace weir
