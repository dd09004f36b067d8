// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H
#define WEIR_SCENARIOS_COMMAND_VERB_OPTIONS_H

#include "collectives/fidelity.h"
#include "scenarios/catalog.h"
#include "scenarios/readers/scenario-names.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

/**
 * @file
 * Options shared by several verbs.
 */
namespace weir
{

struct Scenario;

/** All kinds of catalog entries. */
const std::vector<CatalogKind>& CatalogKinds();

/** The singular of a kind: "system" for systems. */
std::string SingularName(CatalogKind kind);

/**
 * Parses a kind by its plural or singular, "systems" or "system". @throws InputError when unknown.
 */
CatalogKind ParseKind(const std::string& name);

/**
 * Parses the fidelity of a verb that makes many runs. @throws InputError unless it is analytical,
 * stream or flow.
 */
Fidelity ParseBatchFidelity(const std::string& fidelity);

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

/** Prints @p notes to standard error, one per line. */
void PrintNotes(const std::vector<std::string>& notes);

/** Adds an option that names an output file to @p verb; an empty name is refused. */
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

/** Adds the repeatable `--set KEY=VALUE` to @p verb; @p what describes what it changes. */
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
