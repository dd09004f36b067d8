// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/command/verb-options.h"

#include "scenarios/scenario.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/named-choices.h"

#include <iostream>

namespace weir
{

const std::vector<CatalogKind>&
CatalogKinds()
{
    static const std::vector<CatalogKind> kinds{CatalogKind::Systems,
                                                CatalogKind::Models,
                                                CatalogKind::Runs,
                                                CatalogKind::Gpus,
                                                CatalogKind::Architectures,
                                                CatalogKind::Hosts,
                                                CatalogKind::Transports,
                                                CatalogKind::Frameworks,
                                                CatalogKind::Calibrations,
                                                CatalogKind::FlowSizes,
                                                CatalogKind::Corrections,
                                                CatalogKind::Switches,
                                                CatalogKind::Sweeps,
                                                CatalogKind::Suites};
    return kinds;
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
    std::vector<std::string> names;
    for (const CatalogKind kind : CatalogKinds())
    {
        const std::string plural = ToString(kind);
        if (name == plural || name == SingularName(kind))
        {
            return kind;
        }
        names.push_back(plural);
    }
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

Fidelity
ParseBatchFidelity(const std::string& fidelity)
{
    const auto parsed = ParseFidelity(fidelity);
    if (!parsed || *parsed > Fidelity::Flow)
    {
        throw InputError("--fidelity: found '" + fidelity +
                         "', expected analytical, stream or flow");
    }
    return *parsed;
}

void
PrintNotes(const std::vector<std::string>& notes)
{
    for (const std::string& note : notes)
    {
        std::cerr << "weir: note: " << note << "\n";
    }
}

} // namespace weir
