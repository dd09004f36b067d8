// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validate.h"

#include "scenarios/hdf5-table.h"
#include "scenarios/text-table.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

constexpr std::size_t NAME_WIDTH = 56;

std::string
SignedPercent(double fraction)
{
    return (fraction < 0 ? "" : "+") + FormatFixed(fraction * 100, 1) + " %";
}

/** The classes of a suite, in the order they first appear. */
std::vector<std::string>
Groups(const SuiteOutcome& outcome)
{
    std::vector<std::string> groups;
    for (const auto& one : outcome.cases)
    {
        if (std::find(groups.begin(), groups.end(), one.group) == groups.end())
        {
            groups.push_back(one.group);
        }
    }
    return groups;
}

std::string
GroupLine(const SuiteOutcome& outcome, const std::string& group)
{
    double sum = 0;
    std::size_t count = 0;
    for (const auto& one : outcome.cases)
    {
        if (one.group == group)
        {
            sum += std::abs(one.Error());
            count++;
        }
    }
    return "  class " + group + ": mean absolute error " +
           FormatFixed(sum / static_cast<double>(count) * 100, 1) + " % over " +
           std::to_string(count) + (count == 1 ? " case\n" : " cases\n");
}

} // namespace

bool
CaseOutcome::IsWithinTolerance() const
{
    return std::abs(Error()) <= tolerance; // false for a run that never finished
}

bool
SuiteOutcome::IsWithinTolerance() const
{
    return std::all_of(
        cases.begin(), cases.end(), [](const CaseOutcome& one) { return one.IsWithinTolerance(); });
}

SuiteOutcome
RunSuite(const ValidationSuite& suite,
         const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
         const std::function<void(Time)>& progress)
{
    SuiteOutcome outcome{suite.name, suite.title, suite.citation, suite.url, {}};
    for (const auto& one : suite.cases)
    {
        const RunResult result = RunScenario(one.scenario, *loop(one.scenario.fidelity), progress);
        outcome.cases.push_back(
            {one.name, one.group, one.measuredStep, result.StepTime().ToSeconds(), one.tolerance});
    }
    return outcome;
}

std::string
ToText(const SuiteOutcome& outcome)
{
    TextTable table(1);
    table.Row({"case", "measured", "predicted", "error", "allowed", ""});
    for (const auto& one : outcome.cases)
    {
        table.Row({Shorten(one.name, NAME_WIDTH),
                   FormatSeconds(one.measured),
                   FormatSeconds(one.predicted),
                   SignedPercent(one.Error()),
                   FormatFixed(one.tolerance * 100, 1) + " %",
                   one.IsWithinTolerance() ? "ok" : "OUTSIDE"});
    }
    std::string text =
        outcome.name + ": " + outcome.title + "\n  " + outcome.url + "\n" + table.Print(2);
    for (const auto& group : Groups(outcome))
    {
        text += GroupLine(outcome, group);
    }
    return text;
}

void
WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes)
{
    file.AddGroup("/validation");
    for (const auto& outcome : outcomes)
    {
        const std::string group = "/validation/" + outcome.name;
        Hdf5Table table(file, group, "case_index");
        auto& name = table.Add<std::string>({"case", "", "name of the case", ""});
        auto& kind = table.Add<std::string>({"class", "", "class of the case", ""});
        auto& measured = table.Add<double>({"measured", "s", "measured step time", ""});
        auto& predicted = table.Add<double>({"predicted", "s", "simulated step time", ""});
        auto& error = table.Add<double>({"error", "1", "predicted over measured minus 1", ""});
        auto& tolerance = table.Add<double>({"tolerance", "1", "largest allowed error", ""});
        for (const auto& one : outcome.cases)
        {
            name.Append(one.name);
            kind.Append(one.group);
            measured.Append(one.measured);
            predicted.Append(one.predicted);
            error.Append(one.Error());
            tolerance.Append(one.tolerance);
        }
        table.Finish();
        file.SetAttribute(group, "title", outcome.title);
        file.SetAttribute(group, "citation", outcome.citation);
        file.SetAttribute(group, "url", outcome.url);
    }
}

} // namespace weir
