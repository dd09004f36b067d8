// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/validate.h"

#include "scenarios/bound/measured-bounds.h"
#include "scenarios/results/text-table.h"
#include "scenarios/validation/agreement.h"
#include "scenarios/validation/packet-agreement.h"
#include "scenarios/yaml/mapped.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

/** The kind of link between the GPUs of a node. */
std::string
GpuLinksOf(const NodeSpec& node)
{
    return node.wiring == NvLinkWiring::Switched ? "nvswitch"
           : node.wiring == NvLinkWiring::Mesh   ? "nvlink mesh"
                                                 : "pcie";
}

constexpr std::size_t NAME_WIDTH = 56;
constexpr std::size_t SHORT_SUITE = 24; //!< up to this number all cases are listed
constexpr std::size_t WORST_CASES = 8;  //!< cases listed of a longer suite

/** Indices of the cases to list: all in order, or those with the largest errors first. */
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
FormatValue(const CaseOutcome& one, double value)
{
    return one.isRatio ? FormatFixed(value, 3) : FormatSeconds(value);
}

std::string
CaseTable(const SuiteOutcome& outcome, CaseList list)
{
    TextTable table(1);
    table.Row({"case", "measured", "predicted", "error"});
    for (const std::size_t index : Listed(outcome, list))
    {
        const CaseOutcome& one = outcome.cases[index];
        table.Row({Shorten(one.name, NAME_WIDTH),
                   FormatValue(one, one.measured),
                   FormatValue(one, one.predicted),
                   SignedPercent(one.Error())});
    }
    return table.Print(2);
}

std::vector<std::string>
StatisticsRow(const std::string& name, const ErrorStatistics& errors)
{
    return {name,
            std::to_string(errors.count),
            FormatPercent(errors.meanAbsolute),
            FormatPercent(errors.median),
            FormatPercent(errors.p90),
            FormatPercent(errors.worst),
            SignedPercent(errors.bias)};
}

std::string
ClassTable(const SuiteOutcome& outcome)
{
    TextTable table(1);
    table.Row({"class", "cases", "mean abs.", "median", "90th pct", "worst", "bias"});
    for (const auto& one : outcome.ErrorsByClass())
    {
        table.Row(StatisticsRow(one.name, one.errors));
    }
    if (!outcome.IsMixed())
    {
        table.Row(StatisticsRow("all", outcome.Errors()));
    }
    return table.Print(2);
}

/**
 * Classes of the error at one size: the size (below 1 MiB, 1 to 64 MiB, from 64 MiB); launch mode
 * and size; the operation; one or several nodes; the links between the GPUs of a node (nvswitch,
 * nvlink mesh, pcie), one or several nodes, and size; the algorithm; the cluster; and the suite if
 * runs of several suites are combined.
 */
std::vector<std::string>
ClassesOf(const CollectiveOutcome& outcome, std::size_t point)
{
    const auto& sweep = outcome.run.sweep;
    const std::string size = SizeClassOf(sweep.sizes[point]);
    const bool isOne = sweep.cluster.nodes == 1;
    std::vector<std::string> classes{
        "size " + size,
        std::string(ToString(sweep.nccl.launch)) + ", " + size,
        std::string("op ") + ToString(sweep.op),
        isOne ? "nodes one" : "nodes several",
        GpuLinksOf(sweep.cluster.node) + (isOne ? ", one node, " : ", several nodes, ") + size,
        std::string("algorithm ") + ToString(outcome.points[point].algorithm),
        "system " + sweep.cluster.name};
    if (!outcome.run.suite.empty())
    {
        classes.push_back("suite " + outcome.run.suite);
    }
    return classes;
}

CollectiveOutcome
RunMeasuredCollective(const MeasuredCollective& run, Fidelity fidelity)
{
    CollectiveSweepSpec sweep = run.sweep;
    sweep.fidelity = fidelity;
    return {run, RunCollectiveSweep(sweep)};
}

void
AddCollective(CollectiveOutcome one, SuiteOutcome& outcome)
{
    for (std::size_t i = 0; i < one.points.size(); ++i)
    {
        outcome.cases.push_back(
            {one.run.name + ", " + std::to_string(one.points[i].size.Count()) + " B",
             ClassesOf(one, i),
             one.run.measured[i],
             one.points[i].time.ToSeconds()});
    }
    outcome.collectives.push_back(std::move(one));
}

void
AddKernels(const MeasuredKernels& measured, SuiteOutcome& outcome)
{
    const KernelTimer timer(measured.gpu, measured.clock);
    for (const auto& one : measured.kernels)
    {
        outcome.cases.push_back(
            {one.name, one.classes, one.measured, Predict(timer, one).time.ToSeconds()});
    }
}

void
AddSteps(const std::vector<ValidationCase>& cases,
         const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
         const ShowSuite& progress,
         SuiteOutcome& outcome)
{
    for (const auto& one : cases)
    {
        SuiteProgress current{outcome.cases.size(), cases.size()};
        progress(current);
        const RunResult result =
            RunScenario(one.scenario, *loop(one.scenario.fidelity), [&](Time now) {
                current.now = now;
                progress(current);
            });
        outcome.cases.push_back(
            {one.name, one.classes, one.measuredStep, result.StepTime().ToSeconds()});
    }
}

/** Adds the mean and the 99th percentile of each run as cases. */
void
AddFlows(const MeasuredFlows& measured, const ShowSuite& progress, SuiteOutcome& outcome)
{
    for (const MeasuredFlowRun& run : measured.runs)
    {
        progress({outcome.cases.size() / 2, measured.runs.size()});
        outcome.Add(PlayMeasuredFlows(measured.topology, run));
    }
}

/** Adds the first and the last completion of each run as cases. */
void
AddCompletions(const MeasuredCompletions& measured,
               const ShowSuite& progress,
               SuiteOutcome& outcome)
{
    for (const MeasuredCompletionRun& run : measured.runs)
    {
        progress({outcome.cases.size() / 2, measured.runs.size()});
        outcome.Add(PlayMeasuredCompletions(measured, run));
    }
}

std::vector<ClassifiedError>
ErrorsOf(const SuiteOutcome& outcome)
{
    return Mapped<ClassifiedError>(outcome.cases, [&](const auto& one) {
        return ClassifiedError{one.classes, one.Error(), one.name};
    });
}

using Json = nlohmann::ordered_json;

Json
ToJson(const std::string& name, const ErrorStatistics& errors)
{
    return {{"class", name},
            {"cases", errors.count},
            {"mean", errors.meanAbsolute},
            {"median", errors.median},
            {"p90", errors.p90},
            {"bias", errors.bias}};
}

Json
ToJson(const CheckedStatement& checked)
{
    const SuiteStatement& statement = checked.statement;
    Json object;
    object["class"] = statement.ofClass.empty() ? "all" : statement.ofClass;
    if (!statement.ofCase.empty())
    {
        object["case"] = statement.ofCase;
    }
    object["figure"] = statement.ofCase.empty() ? ToString(statement.figure) : "error";
    object["stated"] = statement.stated;
    object["found"] = checked.found; // null where there are no cases
    object["verdict"] = checked.verdict == StatementVerdict::Met            ? "met"
                        : checked.verdict == StatementVerdict::KnownFailure ? "known"
                                                                            : "broken";
    if (!checked.note.empty())
    {
        object["note"] = checked.note;
    }
    if (!statement.reason.empty())
    {
        object["reason"] = statement.reason;
    }
    return object;
}

Json
ToJson(const CaseOutcome& one)
{
    return {{"case", one.name},
            {"classes", one.classes},
            {one.isRatio ? "measured" : "measured_s", one.measured},
            {one.isRatio ? "predicted" : "predicted_s", one.predicted},
            {"error", one.Error()}};
}

Json
ToJson(const SuiteOutcome& outcome, CaseList list)
{
    Json object{{"name", outcome.name}, {"title", outcome.title}, {"url", outcome.url}};
    object["errors"] = Json::array();
    for (const ClassStatistics& one : outcome.ErrorsByClass())
    {
        object["errors"].push_back(ToJson(one.name, one.errors));
    }
    if (!outcome.IsMixed())
    {
        object["errors"].push_back(ToJson("all", outcome.Errors()));
    }
    for (const StatementKind kind : STATEMENT_KINDS)
    {
        Json& listed = object[ToString(kind)] = Json::array();
        for (const CheckedStatement& each : outcome.statements)
        {
            if (each.statement.kind == kind)
            {
                listed.push_back(ToJson(each));
            }
        }
    }
    for (const StatementKind kind : STATEMENT_KINDS)
    {
        object["met"][ToString(kind)] = IsMet(outcome.statements, kind);
    }
    if (list == CaseList::All)
    {
        object["rows"] = Json::array();
        for (const CaseOutcome& one : outcome.cases)
        {
            object["rows"].push_back(ToJson(one));
        }
    }
    return object;
}

} // namespace

void
SuiteOutcome::Add(const std::vector<CaseOutcome>& more)
{
    cases.insert(cases.end(), more.begin(), more.end());
}

bool
SuiteOutcome::IsMixed() const
{
    return kind == SuiteKind::Fidelities || kind == SuiteKind::Bounds || kind == SuiteKind::Hybrid;
}

ErrorStatistics
SuiteOutcome::Errors() const
{
    const auto errors = Mapped<double>(cases, &CaseOutcome::Error);
    return Summarize(errors);
}

std::vector<ClassStatistics>
SuiteOutcome::ErrorsByClass() const
{
    return SummarizeByClass(ErrorsOf(*this));
}

SuiteOutcome
RunSuite(const ValidationSuite& suite,
         const Catalog& catalog,
         const std::function<std::unique_ptr<EngineLoop>(Fidelity)>& loop,
         const ShowSuite& progress,
         Fidelity collectiveFidelity)
{
    SuiteOutcome outcome{suite, {}, {}};
    switch (suite.kind)
    {
    case SuiteKind::Steps:
        AddSteps(suite.cases, loop, progress, outcome);
        break;
    case SuiteKind::Collectives:
    case SuiteKind::LeftOut:
        outcome.fidelity = collectiveFidelity;
        for (const auto& run : suite.collectives)
        {
            progress({outcome.collectives.size(), suite.collectives.size()});
            AddCollective(RunMeasuredCollective(run, collectiveFidelity), outcome);
        }
        break;
    case SuiteKind::Kernels:
        AddKernels(suite.kernels, outcome);
        break;
    case SuiteKind::Flows:
        AddFlows(suite.flows, progress, outcome);
        AddCompletions(suite.completions, progress, outcome);
        break;
    case SuiteKind::Fidelities:
        outcome.Add(CompareFidelities(catalog, progress));
        outcome.Add(CompareDrawn(catalog, progress));
        outcome.Add(CompareOnFabrics(catalog, progress));
        outcome.Add(CompareMixtures(catalog, progress));
        outcome.Add(CompareOversubscribed(catalog, progress));
        outcome.Add(CompareWithPackets(catalog, progress));
        break;
    case SuiteKind::Plans:
        outcome.Add(ComparePlans(catalog, progress));
        break;
    case SuiteKind::Hybrid:
        outcome.Add(CompareHybrid(catalog, progress));
        outcome.Add(CompareSettled(catalog, progress));
        break;
    case SuiteKind::Bounds:
        outcome.bounds = CheckBounds(catalog, progress);
        outcome.Add(CasesOf(outcome.bounds));
        break;
    case SuiteKind::Group:
        throw std::invalid_argument("RunSuite: a group has no cases of its own");
    }
    outcome.statements = Check(suite.statements, ErrorsOf(outcome), outcome.fidelity);
    return outcome;
}

SuiteOutcome
Gather(const ValidationSuite& group, const std::vector<SuiteOutcome>& outcomes)
{
    SuiteOutcome all{group, {}, {}};
    for (const auto& outcome : outcomes)
    {
        if (outcome.kind != group.members)
        {
            continue;
        }
        all.fidelity = outcome.fidelity;
        for (CaseOutcome one : outcome.cases)
        {
            if (outcome.kind == SuiteKind::Steps)
            {
                one.classes.clear();
            }
            one.classes.push_back("suite " + outcome.name);
            all.cases.push_back(std::move(one));
        }
    }
    all.statements = Check(group.statements, ErrorsOf(all), all.fidelity);
    return all;
}

std::string
ToText(const SuiteOutcome& outcome, CaseList list)
{
    const bool isBrief = list == CaseList::Brief;
    std::string text = outcome.name + ": " + outcome.title + "\n" +
                       (outcome.url.empty() ? "" : "  " + outcome.url + "\n");
    if (outcome.kind == SuiteKind::Bounds)
    {
        text += ToText(outcome.bounds);
    }
    else
    {
        if (isBrief && outcome.cases.size() > SHORT_SUITE && !outcome.IsMixed())
        {
            text += "  the " + std::to_string(WORST_CASES) + " largest errors of " +
                    std::to_string(outcome.cases.size()) + " cases:\n";
        }
        text +=
            (isBrief && outcome.IsMixed() ? "" : CaseTable(outcome, list)) + ClassTable(outcome);
    }
    return text + ToText(outcome.statements, list == CaseList::All);
}

std::string
ToJson(const std::vector<SuiteOutcome>& outcomes, CaseList list)
{
    Json object{{"suites", Json::array()}, {"met", true}};
    for (const SuiteOutcome& outcome : outcomes)
    {
        object["suites"].push_back(ToJson(outcome, list));
        object["met"] = object["met"].get<bool>() && AreMet(outcome.statements);
    }
    return object.dump(2);
}

} // namespace weir
