// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/verb-options.h"

#include "collectives/fidelity.h"
#include "scenarios/bound/calibrate-shortcut.h"
#include "scenarios/catalog.h"
#include "scenarios/command/interruption.h"
#include "scenarios/results/output-file.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/simulation/run-scenario.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"
#include "scenarios/yaml/names.h"
#include "scenarios/yaml/yaml-node.h"

#ifdef WEIR_WITH_NS3
#include "scenarios/job/ns3-loop.h"
#endif

#include <CLI/CLI.hpp>
#include <iostream>
#include <unistd.h>

namespace weir
{

NamedChoices<CatalogKind>
CatalogKinds()
{
    return ChoicesUpTo(CatalogKind::Suites);
}

std::string
SingularName(CatalogKind kind)
{
    const std::string plural = ToString(kind);
    const bool isLong = kind == CatalogKind::Switches; // not "a switche"
    return plural.substr(0, plural.size() - (isLong ? 2 : 1));
}

CatalogKind
ParseKind(const std::string& name)
{
    for (const auto& [plural, kind] : CatalogKinds())
    {
        if (name == plural || name == SingularName(kind))
        {
            return kind;
        }
    }
    const std::vector<std::string> names = ChoiceNames(CatalogKinds());
    throw InputError("KIND: found '" + name + "', expected one of: " + JoinNames(names) +
                     DidYouMean(name, names));
}

void
FailOption(const std::string& option,
           const std::string& text,
           const std::vector<std::string>& names)
{
    throw InputError(option + ": found " + (text.empty() ? "nothing" : "'" + text + "'") +
                     ", expected one of: " + JoinNames(names) + DidYouMean(text, names));
}

std::size_t
FindTrainingJob(const Scenario& scenario, const std::string& name)
{
    std::vector<std::string> names;
    for (const JobSpec& job : scenario.jobs)
    {
        if (job.name == name || name.empty())
        {
            return names.size();
        }
        names.push_back(job.name);
    }
    if (names.empty())
    {
        throw InputError(scenario.path + ": found no training job, expected one");
    }
    FailOption("--job", name, names);
}

NamedChoices<Fidelity>
FidelitiesOf(const std::string& verb)
{
    const bool isOfFlows = verb == "flows";
    const bool hasManyRuns = verb == "search" || verb == "validate";
    NamedChoices<Fidelity> choices = ChoicesUpTo(isOfFlows     ? Fidelity::Hybrid
                                                 : hasManyRuns ? Fidelity::Flow
                                                               : Fidelity::Auto);
    const auto first = static_cast<std::ptrdiff_t>(isOfFlows ? Fidelity::Flow : Fidelity{});
    choices.erase(choices.begin(), choices.begin() + first);
    return choices;
}

Fidelity
ParseFidelityOf(const std::string& verb, const std::string& fidelity)
{
    const NamedChoices<Fidelity> choices = FidelitiesOf(verb);
    const auto parsed = FindChoice(choices, fidelity);
    if (!parsed)
    {
        throw InputError("--fidelity: found '" + fidelity + "', expected " + choices[0].first +
                         ", " + choices[1].first + " or " + choices[2].first);
    }
    return *parsed;
}

std::unique_ptr<OutputFile>
OpenOutput(const std::string& path, const std::string& what, const OutputFormat& format)
{
    auto file = std::make_unique<OutputFile>(path, what, format);
    RemoveOutputIfInterrupted(path);
    return file;
}

void
AddOutputOption(CLI::App& verb,
                const std::string& names,
                std::string& file,
                const std::string& help)
{
    verb.add_option(names, file, help)->type_name("FILE")->check([](const std::string& name) {
        const bool isOption = name.compare(0, 2, "--") == 0; // CLI11 takes it as the name
        return name.empty() || isOption ? "found '" + name + "', expected the name of a file"
                                        : std::string();
    });
}

void
AddSettingsOption(CLI::App& verb, std::vector<std::string>& settings, const std::string& what)
{
    verb.add_option("--set", settings, "Replace a value of " + what + " (repeatable)")
        ->type_name("KEY=VALUE")
        ->expected(1)
        ->take_all();
}

double
ParseTolerance(const std::string& tolerance)
{
    return YamlNode::ParseArgument(tolerance, "--tolerance").AsPercent(0, 1);
}

void
CheckTolerance(const std::string& tolerance, Fidelity fidelity)
{
    if (!tolerance.empty() && fidelity != Fidelity::Auto)
    {
        throw InputError("--tolerance: found it with fidelity " + std::string(ToString(fidelity)) +
                         ", expected --fidelity auto with it");
    }
}

ProgressLine
TerminalProgress(const std::string& title)
{
    return ProgressLine(std::cerr, isatty(STDERR_FILENO) == 1, title);
}

std::string
CheckSeed(const std::string& text)
{
    const bool isWhole = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    constexpr std::size_t MAX_DIGITS = 18;
    return isWhole && text.size() <= MAX_DIGITS
               ? std::string()
               : "found '" + text + "', expected a whole number from 0 to 10^18 - 1";
}

void
PrintNotes(const std::vector<std::string>& notes)
{
    for (const std::string& note : notes)
    {
        std::cerr << "weir: note: " << note << "\n";
    }
}

std::unique_ptr<EngineLoop>
MakeEngineLoop(Fidelity fidelity)
{
#ifdef WEIR_WITH_NS3
    // Packets have millions of events inside the transport; these need no scheduler.
    if (fidelity == Fidelity::Stream || fidelity == Fidelity::Flow || fidelity == Fidelity::Auto)
    {
        return std::make_unique<Ns3Loop>();
    }
#endif
    return std::make_unique<PlainLoop>();
}

void
AddBoundOptions(CLI::App& verb, BoundOptions& options)
{
    options.coverageOption =
        verb.add_option("--coverage",
                        options.coverage,
                        "Coverage of the error bound against flow of analytical and stream times, "
                        "also used by the choice of auto: 0.8, 0.9, 0.95 or 0.99")
            ->check(CLI::IsMember({0.8, 0.9, 0.95, 0.99}))
            ->check([](const std::string& text) { // CLI11 would accept it
                return text.empty() ? "found '', expected 0.8, 0.9, 0.95 or 0.99" : std::string();
            })
            ->capture_default_str();
    verb.add_option("--reference",
                    options.reference,
                    "Reference of the error bound: flow, or packet with its default settings "
                    "(collectives only; flow then has a bound, too; default: flow)");
}

std::optional<Calibration>
CalibrationFor(const BoundOptions& options,
               bool isOfSteps,
               Fidelity fidelity,
               const Catalog& catalog)
{
    const bool isOfPackets = options.reference == ToString(Fidelity::Packet);
    if (!options.reference.empty() && !isOfPackets && options.reference != ToString(Fidelity::Flow))
    {
        throw InputError("--reference: found '" + options.reference + "', expected flow or packet");
    }
    const Fidelity reference = isOfPackets ? Fidelity::Packet : Fidelity::Flow;
    if (isOfPackets && isOfSteps)
    {
        throw InputError(
            "--reference: found 'packet' with training jobs, expected flow: only "
            "collectives are compared with packets");
    }
    const bool isAuto = fidelity == Fidelity::Auto && !isOfPackets;
    if (!isAuto && !IsComparedWith(reference, fidelity))
    {
        if (!options.reference.empty())
        {
            throw InputError("--reference: found '" + options.reference + "' with fidelity " +
                             ToString(fidelity) + ", expected analytical" +
                             (isOfPackets ? ", stream or flow" : ", stream or auto") + " with it");
        }
        const bool isCoverageGiven =
            options.coverageOption != nullptr && options.coverageOption->count() > 0;
        if (isCoverageGiven && !isOfSteps) // steps have a measured bound in every fidelity
        {
            throw InputError(std::string("--coverage: found it with fidelity ") +
                             ToString(fidelity) +
                             ", expected analytical, stream or auto with it, or flow with "
                             "--reference packet");
        }
        return std::nullopt;
    }
    return ShippedCalibration(isOfPackets ? CalibratedThing::Packets
                              : isOfSteps ? CalibratedThing::Steps
                                          : CalibratedThing::Collectives,
                              catalog);
}

} // namespace weir
