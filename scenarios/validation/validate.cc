// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/validate.h"

#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/text-table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weir
{

namespace
{

constexpr std::size_t NAME_WIDTH = 56;
constexpr std::size_t SHORT_SUITE = 24; //!< cases that are all listed
constexpr std::size_t WORST_CASES = 8;  //!< listed of a longer suite

/** Indices of the cases to list: all in order, or the worst with the largest error first. */
std::vector<std::size_t>
Listed(const SuiteOutcome& outcome, CaseList list)
{
    std::vector<std::size_t> indices(outcome.cases.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    if (list == CaseList::Brief && indices.size() > SHORT_SUITE)
    {
        std::stable_sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
            return std::abs(outcome.cases[a].Error()) > std::abs(outcome.cases[b].Error());
        });
        indices.resize(WORST_CASES);
    }
    return indices;
}

std::string
CaseTable(const SuiteOutcome& outcome, CaseList list)
{
    TextTable table(1);
    table.Row({"case", "measured", "predicted", "error", "allowed", ""});
    for (const std::size_t index : Listed(outcome, list))
    {
        const CaseOutcome& one = outcome.cases[index];
        const bool isHeld = !std::isinf(one.tolerance);
        table.Row({Shorten(one.name, NAME_WIDTH),
                   FormatSeconds(one.measured),
                   FormatSeconds(one.predicted),
                   SignedPercent(one.Error()),
                   isHeld ? Percent(one.tolerance) : "",
                   !isHeld ? "" : (one.IsWithinTolerance() ? "ok" : "OUTSIDE")});
    }
    return table.Print(2);
}

/** "a; b". */
std::string
Joined(const std::vector<std::string>& texts)
{
    std::string joined;
    for (const std::string& text : texts)
    {
        joined += (joined.empty() ? "" : "; ") + text;
    }
    return joined;
}

std::vector<std::string>
StatisticsRow(const std::string& name, const ErrorStatistics& errors)
{
    return {name,
            std::to_string(errors.count),
            Percent(errors.meanAbsolute),
            Percent(errors.median),
            Percent(errors.p90),
            SignedPercent(errors.bias)};
}

std::string
ClassTable(const SuiteOutcome& outcome)
{
    std::vector<ClassifiedError> errors;
    for (const auto& one : outcome.cases)
    {
        errors.push_back({one.classes, one.Error()});
    }
    TextTable table(1);
    table.Row({"class", "cases", "mean abs.", "median", "90th pct", "bias"});
    for (const auto& one : SummariseByClass(errors))
    {
        table.Row(StatisticsRow(one.name, one.errors));
    }
    table.Row(StatisticsRow("all", outcome.Errors()));
    return table.Print(2);
}

/** Every measured size of a run is a case. */
void
AddCollective(CollectiveOutcome one, SuiteOutcome& outcome)
{
    for (std::size_t i = 0; i < one.points.size(); ++i)
    {
        outcome.cases.push_back(
            {one.run.name + ", " + std::to_string(one.points[i].size.Count()) + " B",
             ClassesOf(one, i),
             one.run.measured[i],
             one.points[i].time.ToSeconds(),
             std::numeric_limits<double>::infinity()});
    }
    outcome.collectives.push_back(std::move(one));
}

/** Every kernel is a case; they were measured in bursts. */
void
AddKernels(const MeasuredKernels& measured, SuiteOutcome& outcome)
{
    const KernelTimer timer(measured.gpu, ClockRegime::Burst);
    for (const auto& one : measured.kernels)
    {
        outcome.cases.push_back({one.name,
                                 one.classes,
                                 one.measured,
                                 Predict(timer, one).time.ToSeconds(),
                                 std::numeric_limits<double>::infinity()});
    }
}

} // namespace

bool
CaseOutcome::IsWithinTolerance() const
{
    return std::abs(Error()) <= tolerance && std::isfinite(predicted);
}

ErrorStatistics
SuiteOutcome::Errors() const
{
    std::vector<double> errors;
    for (const auto& one : cases)
    {
        errors.push_back(one.Error());
    }
    return Summarise(errors);
}

bool
SuiteOutcome::IsWithinTolerance() const
{
    return std::all_of(cases.begin(),
                       cases.end(),
                       [](const CaseOutcome& one) { return one.IsWithinTolerance(); }) &&
           (!meanError || Errors().meanAbsolute <= *meanError);
}

SuiteOutcome
RunSuite(const ValidationSuite& suite,
         const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
         const std::function<void(const SuiteProgress&)>& progress,
         Fidelity collectiveFidelity)
{
    SuiteOutcome outcome{
        suite.name, suite.title, suite.citation, suite.url, {}, {}, suite.meanError};
    for (const auto& run : suite.collectives)
    {
        progress({outcome.collectives.size(), suite.collectives.size(), Time()});
        AddCollective(RunMeasuredCollective(run, collectiveFidelity), outcome);
    }
    if (!suite.kernels.kernels.empty())
    {
        AddKernels(suite.kernels, outcome);
    }
    for (const auto& one : suite.cases)
    {
        SuiteProgress place{outcome.cases.size(), suite.cases.size(), Time()};
        progress(place);
        const RunResult result =
            RunScenario(one.scenario, *loop(one.scenario.fidelity), [&](Time now) {
                place.now = now;
                progress(place);
            });
        outcome.cases.push_back({one.name,
                                 one.classes,
                                 one.measuredStep,
                                 result.StepTime().ToSeconds(),
                                 one.tolerance});
    }
    return outcome;
}

SuiteOutcome
Together(const std::string& name, const std::vector<SuiteOutcome>& outcomes)
{
    SuiteOutcome all{name, "all of the suites above", "", "", {}, {}, std::nullopt};
    for (const auto& outcome : outcomes)
    {
        all.cases.insert(all.cases.end(), outcome.cases.begin(), outcome.cases.end());
    }
    return all;
}

std::string
ToText(const SuiteOutcome& outcome, CaseList list)
{
    const bool isCut = list == CaseList::Brief && outcome.cases.size() > SHORT_SUITE;
    std::string text = outcome.name + ": " + outcome.title + "\n" +
                       (outcome.url.empty() ? "" : "  " + outcome.url + "\n");
    if (isCut)
    {
        text += "  the " + std::to_string(WORST_CASES) + " largest errors of " +
                std::to_string(outcome.cases.size()) + " cases:\n";
    }
    text += CaseTable(outcome, list) + ClassTable(outcome);
    if (outcome.meanError)
    {
        text += "  mean absolute error " + Percent(outcome.Errors().meanAbsolute) + ", allowed " +
                Percent(*outcome.meanError) + "\n";
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
        auto& kind =
            table.Add<std::string>({"class", "", "classes of the case, semicolons between", ""});
        auto& measured = table.Add<double>({"measured", "s", "measured step time", ""});
        auto& predicted = table.Add<double>({"predicted", "s", "simulated step time", ""});
        auto& error = table.Add<double>({"error", "1", "predicted over measured minus 1", ""});
        auto& tolerance = table.Add<double>({"tolerance", "1", "largest allowed error", ""});
        for (const auto& one : outcome.cases)
        {
            name.Append(one.name);
            kind.Append(Joined(one.classes));
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
