// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H
#define WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H

#include "scenarios/yaml/named-choices.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI
{
class App;
class Option;
} // namespace CLI

/**
 * @file
 * Options shared by several verbs.
 */
namespace weir
{

class Calibration;
class Catalog;
class EngineLoop;
class OutputFile;
struct OutputFormat;
class ProgressLine;
struct Scenario;
enum class CatalogKind : uint8_t;
enum class Fidelity : uint8_t;

/** All kinds of catalog entries, with their plurals. */
NamedChoices<CatalogKind> CatalogKinds();

/** The singular of a kind: "system" for systems. */
std::string SingularName(CatalogKind kind);

/**
 * Parses a kind by its plural or singular, "systems" or "system". @throws InputError when unknown.
 */
CatalogKind ParseKind(const std::string& name);

/** The fidelities that --fidelity of @p verb takes: those of many runs, of flows, or all. */
NamedChoices<Fidelity> FidelitiesOf(const std::string& verb);

/**
 * Parses the fidelity of @p verb, which takes three. @throws InputError unless it is one of
 * FidelitiesOf.
 */
Fidelity ParseFidelityOf(const std::string& verb, const std::string& fidelity);

/**
 * Makes the loop that drives a run of @p fidelity: ns-3's simulator for fluid transports in builds
 * with ns-3, the plain loop otherwise. Results are the same.
 */
std::unique_ptr<EngineLoop> MakeEngineLoop(Fidelity fidelity);

/** Throws an InputError: @p option had the value @p text, which is none of @p names. */
[[noreturn]] void FailOption(const std::string& option,
                             const std::string& text,
                             const std::vector<std::string>& names);

/** The choice that @p text names. @throws InputError as FailOption. */
template <typename E>
E
ChoiceOf(const std::string& option, const std::string& text, const NamedChoices<E>& choices)
{
    if (const std::optional<E> value = FindChoice(choices, text))
    {
        return *value;
    }
    FailOption(option, text, ChoiceNames(choices));
}

/**
 * Index of the training job that the option --job names; of the first where @p name is empty.
 * @throws InputError where there is none.
 */
std::size_t FindTrainingJob(const Scenario& scenario, const std::string& name);

/** The fraction that the value of --tolerance, a percentage, gives. @throws InputError. */
double ParseTolerance(const std::string& tolerance);

/** @throws InputError at a given --tolerance, @p tolerance, unless @p fidelity is auto. */
void CheckTolerance(const std::string& tolerance, Fidelity fidelity);

/** A line of progress on standard error, if that is a terminal. */
ProgressLine TerminalProgress(const std::string& title);

/** Why @p text is no seed, empty if it is one; CLI11 by itself wraps values below zero. */
std::string CheckSeed(const std::string& text);

/** Prints @p notes to standard error, one per line. */
void PrintNotes(const std::vector<std::string>& notes);

/** Adds an option that names an output file to @p verb; an empty name is refused. */
void AddOutputOption(CLI::App& verb,
                     const std::string& names,
                     std::string& file,
                     const std::string& help);

/**
 * Creates the output @p path, which an interrupted process does not leave behind unfinished.
 * @throws InputError as OutputFile.
 */
std::unique_ptr<OutputFile> OpenOutput(const std::string& path,
                                       const std::string& what,
                                       const OutputFormat& format);

/** Adds the repeatable `--set KEY=VALUE` to @p verb; @p what describes what it changes. */
void AddSettingsOption(CLI::App& verb,
                       std::vector<std::string>& settings,
                       const std::string& what = "the scenario, such as system.nodes=4");

/** Options for the error bound of times. */
struct BoundOptions
{
    double coverage{0.9};
    std::string reference;                      //!< empty: flow
    const CLI::Option* coverageOption{nullptr}; //!< null: the verb has no such option
};

/** Adds --coverage and --reference to @p verb. */
void AddBoundOptions(CLI::App& verb, BoundOptions& options);

/**
 * The calibration for times of @p fidelity; nothing where these have no bound.
 * @throws InputError when the requested reference is not one that they are compared with, or
 *         --coverage has no effect.
 */
std::optional<Calibration> CalibrationFor(const BoundOptions& options,
                                          bool isOfSteps,
                                          Fidelity fidelity,
                                          const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H
