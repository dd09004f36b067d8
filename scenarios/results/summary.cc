// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/summary.h"

#include "compute-model/execution/percentiles.h"
#include "scenarios/results/text-table.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace weir
{

namespace
{

constexpr std::size_t WIDTH = 100;  //!< terminal columns
constexpr std::size_t MAX_ROWS = 8; //!< rows of the breakdown, excluding the mean
constexpr std::size_t MAX_JOBS = 3; //!< jobs that get a line of their own
constexpr std::size_t LINK_NAME_WIDTH = 50;

/**
 * Number of leading categories shown in every breakdown; later ones are shown only if they took
 * time.
 */
constexpr std::size_t COMMON_CATEGORIES = 7;

std::vector<std::size_t>
ShownCategories(const std::vector<const JobResult*>& jobs)
{
    std::vector<std::size_t> shown;
    for (std::size_t category = 0; category < TIME_CATEGORY_COUNT; category++)
    {
        if (category < COMMON_CATEGORIES ||
            std::any_of(jobs.begin(), jobs.end(), [category](const JobResult* job) {
                return job->mean.spent[category] > Time();
            }))
        {
            shown.push_back(category);
        }
    }
    return shown;
}

std::string
TitleLine(const Scenario& scenario, const RunResult& result)
{
    uint64_t gpus = 0;
    for (const auto& job : result.jobs)
    {
        gpus += job.gpus;
    }
    for (const auto& collective : result.collectives)
    {
        gpus += collective.gpus;
    }
    for (const auto& traffic : result.traffics)
    {
        gpus += traffic.gpus;
    }
    const ClusterSpec& cluster = scenario.cluster;
    if (!result.traffics.empty()) // traffic shares GPUs with jobs
    {
        gpus = std::min(gpus, uint64_t{cluster.nodes} * cluster.node.gpus);
    }
    const std::string mode = " (" + std::string(ToString(scenario.fidelity)) + ", " +
                             FormatFixed(static_cast<double>(gpus), 0) + " GPUs)";
    const std::string title = scenario.title.empty()
                                  ? std::filesystem::path(scenario.path).filename().string()
                                  : scenario.title;
    return Shorten(title, WIDTH - mode.size()) + mode + "\n";
}

/**
 * A table with a line for each of the first MAX_JOBS of @p jobs, and the number of the others;
 * empty if there are no jobs.
 */
template <typename Job>
std::string
JobLines(const std::vector<Job>& jobs,
         const char* kind,
         std::vector<std::string> (*cellsOf)(const Job& job))
{
    TextTable table(1);
    for (std::size_t i = 0; i < std::min(MAX_JOBS, jobs.size()); i++)
    {
        table.Row(cellsOf(jobs[i]));
    }
    return table.Print(2) +
           (jobs.size() <= MAX_JOBS
                ? ""
                : "  and " + std::to_string(jobs.size() - MAX_JOBS) + " other " + kind +
                      (jobs.size() == MAX_JOBS + 1 ? "" : "s") + ", listed by --json\n");
}

/** The time of a job's steady step and the resulting throughput. */
std::vector<std::string>
StepCells(const JobResult& job)
{
    const std::string name = "step time " + Shorten(job.name, 15);
    if (job.stepTime.IsInfinite())
    {
        return {name, "no step has ended"};
    }
    const double seconds = job.stepTime.ToSeconds();
    if (job.isWorkload)
    {
        return {name,
                FormatSeconds(seconds),
                std::to_string(job.gpus) + " ranks of an imported workload"};
    }
    const double perGpu = job.modelFlopsPerStep.ToDouble() / seconds / job.gpus;
    return {name,
            FormatSeconds(seconds),
            FormatFixed(job.itemsPerStep / seconds, 0) +
                (job.countsSamples ? " samples/s" : " tokens/s"),
            FormatFixed(perGpu * 1e-12, 1) + " model TFLOP/s per GPU",
            FormatFixed(job.memory.Total().ToDouble() / Bytes::GiB(1).ToDouble(), 0) + " GiB"};
}

double
TotalSeconds(const RankBreakdown& breakdown)
{
    double total = 0;
    for (const Time spent : breakdown.spent)
    {
        total += spent.ToSeconds();
    }
    return total;
}

/** Unit of a breakdown, chosen so that numbers have at most eight digits and signs. */
struct BreakdownUnit
{
    const char* name;
    double perSecond;
    int decimals;
};

BreakdownUnit
UnitFor(double seconds)
{
    constexpr double LONGEST_IN_MICROSECONDS = 10e-3; // seconds
    constexpr double LONGEST_IN_MILLISECONDS = 100;   // seconds
    constexpr double LONGEST_IN_HUNDREDTHS = 1000;    // seconds
    if (seconds < LONGEST_IN_MICROSECONDS)
    {
        return {"us", 1e6, 1};
    }
    if (seconds < LONGEST_IN_MILLISECONDS)
    {
        return {"ms", 1e3, 1};
    }
    return {"s", 1, seconds < LONGEST_IN_HUNDREDTHS ? 2 : 0};
}

void
AddBreakdownRow(TextTable& table,
                const BreakdownUnit& unit,
                const std::vector<std::size_t>& categories,
                const std::string& name,
                const RankBreakdown& breakdown)
{
    std::vector<std::string> cells{name};
    for (const std::size_t category : categories)
    {
        const double seconds = breakdown.spent[category].ToSeconds();
        cells.push_back(FormatFixed(seconds * unit.perSecond, unit.decimals));
    }
    const double compute = breakdown.spent[static_cast<std::size_t>(TimeCategory::Compute)] /
                           std::max(Time::Seconds(TotalSeconds(breakdown)), Time::Picoseconds(1));
    cells.push_back(FormatPercent(compute));
    table.Row(cells);
}

/**
 * The breakdown of the only job by stage, of the first and last stages if they do not all fit; of
 * several jobs the mean of each. Empty where no step has ended.
 */
std::string
BreakdownLines(const std::vector<JobResult>& all)
{
    const bool isByStage = all.size() == 1;
    std::vector<const JobResult*> jobs; // that have ended a step
    for (const JobResult& each : all)
    {
        if (!each.stepTime.IsInfinite())
        {
            jobs.push_back(&each);
        }
    }
    if (jobs.empty())
    {
        return "";
    }
    const JobResult& job = *jobs.front();
    TextTable table(1);
    const BreakdownUnit unit = UnitFor(TotalSeconds(job.mean));
    std::vector<std::string> heads{(isByStage ? "stage, " : "job, ") + std::string(unit.name)};
    const std::vector<std::size_t> shown = ShownCategories(jobs);
    for (const std::size_t category : shown)
    {
        heads.emplace_back(ToString(static_cast<TimeCategory>(category)));
    }
    heads.push_back("busy");
    table.Row(heads);
    const std::size_t stages = isByStage ? job.stages.size() : 0;
    const bool fit = stages <= MAX_ROWS;
    const std::size_t shownAtEnd = MAX_ROWS / 2;
    for (std::size_t stage = 0; stage < stages; stage++)
    {
        if (fit || stage < MAX_ROWS - shownAtEnd - 1 || stage >= stages - shownAtEnd)
        {
            AddBreakdownRow(table, unit, shown, std::to_string(stage), job.stages[stage]);
        }
        else if (stage == MAX_ROWS - shownAtEnd - 1)
        {
            table.Row({"..."});
        }
    }
    if (stages > 1)
    {
        AddBreakdownRow(table, unit, shown, "mean", job.mean);
    }
    for (std::size_t i = 0; !isByStage && i < std::min(MAX_JOBS, jobs.size()); i++)
    {
        AddBreakdownRow(table, unit, shown, Shorten(jobs[i]->name, 14), jobs[i]->mean);
    }
    return table.Print(2);
}

/** With several steps: which statistic the step time is, and the distribution of all steps. */
std::string
SpreadLine(const JobResult& job)
{
    if (job.steps.size() < 2)
    {
        return "";
    }
    const TimeSpread spread = SpreadOf(job.steps);
    return "  " + std::string(ToString(job.stepKind)) + "; all " +
           std::to_string(job.steps.size()) + ": mean " + FormatSeconds(spread.mean) + ", median " +
           FormatSeconds(spread.median) + ", p95 " + FormatSeconds(spread.p95) + "\n";
}

std::vector<std::string>
CollectiveCells(const CollectiveJobResult& job)
{
    const TimeSpread spread = SpreadOf(job.calls);
    std::vector<std::string> cells{
        Shorten(job.name, 15),
        job.sequence.size() == 1 ? std::string(ToString(job.sequence.front().op))
                                 : std::to_string(job.sequence.size()) + " in sequence",
        std::to_string(job.calls.size()) + " calls on " + std::to_string(job.gpus) + " GPUs"};
    if (!job.calls.empty())
    {
        cells.insert(cells.end(),
                     {"mean " + FormatSeconds(spread.mean),
                      "p95 " + FormatSeconds(spread.p95),
                      FormatFixed(job.busBandwidth.ToGBps(), 1) + " GB/s bus"});
    }
    return cells;
}

std::vector<std::string>
TrafficCells(const TrafficJobResult& job)
{
    const Percentiles slowdown = PercentilesOf(job.slowdowns);
    const std::size_t ended = job.slowdowns.size();
    std::vector<std::string> cells{Shorten(job.name, 15),
                                   ToString(job.kind),
                                   (ended < job.started ? std::to_string(ended) + " of " : "") +
                                       std::to_string(job.started) + " flows on " +
                                       std::to_string(job.gpus) + " GPUs",
                                   FormatDecimalBytes(job.bytes.ToDouble())};
    if (ended > 0)
    {
        cells.insert(cells.end(),
                     {"slowdown p50 " + FormatFixed(slowdown.p50, 2),
                      "p99 " + FormatFixed(slowdown.p99, 2)});
    }
    return cells;
}

/** Error bounds of the first job's step time against the reference and against measured steps. */
std::string
BoundLines(const RunResult& result)
{
    std::string text;
    const auto add = [&text](const std::string& line) {
        text += "  " + Shorten(line, WIDTH - 2) + "\n";
    };
    if (result.bound && !result.bound->IsInside())
    {
        add("model bound: none, " + result.bound->region);
    }
    else if (result.bound)
    {
        const ErrorBound& bound = *result.bound;
        add(FormatText("model bound %+.2f to %+.2f %% against %s (%s)",
                       100 * (bound.lower - 1),
                       100 * (bound.upper - 1),
                       bound.reference.c_str(),
                       CoverageText(bound.coverage).c_str()));
    }
    if (result.measuredBound)
    {
        add("measured steps of unseen machines lie " + ToText(*result.measuredBound));
    }
    return text;
}

/** In fidelity auto: the number of calls by fidelity and reason. */
std::string
FidelityLines(const Scenario& scenario, const RunResult& result)
{
    if (scenario.fidelity != Fidelity::Auto)
    {
        return "";
    }
    std::map<std::pair<Fidelity, FidelityReason>, uint64_t> counts;
    uint64_t all = 0;
    for (const FidelityUse& use : result.fidelityUses)
    {
        counts[{use.choice.fidelity, use.choice.reason}] += use.calls;
        all += use.calls;
    }
    TextTable table(2);
    table.Row({"tolerance " + FormatFixed(100 * scenario.automatic.tolerance, 1) + " % (" +
                   CoverageText(scenario.automatic.coverage) + ")",
               "reason",
               "calls",
               "share"});
    if (result.bound) // a step that ran as a whole
    {
        table.Row({ToString(Fidelity::Analytical), "bound of the step", "all", "100.0 %"});
    }
    for (const auto& [choice, calls] : counts)
    {
        table.Row(
            {ToString(choice.first),
             ToString(choice.second),
             FormatFixed(static_cast<double>(calls), 0),
             FormatFixed(100.0 * static_cast<double>(calls) / static_cast<double>(all), 1) + " %"});
    }
    return table.Print(2);
}

/** With replay of known episodes: the numbers of episodes and flows that needed no packets. */
std::string
ReplayLine(const RunResult& result)
{
    if (!result.replay)
    {
        return "";
    }
    const auto count = [](uint64_t value) { return FormatFixed(static_cast<double>(value), 0); };
    std::string line = "  replayed " + count(result.replay->replayed) + " of " +
                       count(result.replay->episodes) + " episodes and " +
                       count(result.replay->replayedFlows) + " of " + count(result.replay->flows) +
                       " flows";
    if (result.replay->moves > 0)
    {
        const Time largest = Time::Picoseconds(result.replay->largestMove);
        line += ", moved by at most " + FormatFixed(largest.ToMicroseconds(), 3) + " us";
    }
    return line + "\n";
}

std::string
CostLine(const RunResult& result)
{
    return "  wall time " + FormatSeconds(result.wallSeconds) + ", " +
           FormatFixed(static_cast<double>(result.events), 0) + " events, peak memory " +
           FormatFixed(static_cast<double>(result.peakRssBytes) / (1 << 20), 0) + " MiB\n";
}

} // namespace

std::string
CouplingLine(const RunResult& result)
{
    if (!result.coupling || result.coupling->windows == 0)
    {
        return "";
    }
    return "  packets and fluid coupled in " +
           FormatFixed(static_cast<double>(result.coupling->windows), 0) +
           " windows; links carried at most " + FormatDecimalBytes(result.coupling->largestDebt) +
           " beyond their rate\n";
}

std::string
BusiestLinkLines(const RunResult& result)
{
    TextTable table(2);
    table.Row({"busiest links", "", "utilization", "busy", "carried"});
    for (const auto& link : result.busiestLinks)
    {
        table.Row({Shorten(link.name, LINK_NAME_WIDTH),
                   link.kind,
                   FormatPercent(link.meanUtilization),
                   FormatPercent(link.busyFraction),
                   FormatDecimalBytes(link.bytes.ToDouble())});
    }
    return result.busiestLinks.empty() ? "" : table.Print(2);
}

std::string
Summarize(const Scenario& scenario, const RunResult& result)
{
    const bool hasSteps = !result.jobs.empty();
    const std::string first = hasSteps ? SpreadLine(result.jobs.front()) + BoundLines(result) : "";
    return TitleLine(scenario, result) + JobLines(result.jobs, "training", StepCells) + first +
           BreakdownLines(result.jobs) +
           JobLines(result.collectives, "collective", CollectiveCells) +
           (hasSteps ? "" : BoundLines(result)) + FidelityLines(scenario, result) +
           ReplayLine(result) + CouplingLine(result) +
           JobLines(result.traffics, "pattern", TrafficCells) + BusiestLinkLines(result) +
           CostLine(result);
}

} // namespace weir
