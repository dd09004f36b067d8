// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/run-json.h"

#include "compute-model/execution/percentiles.h"
#include "scenarios/yaml/mapped.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace weir
{

namespace
{

using Json = nlohmann::ordered_json;

Json
ToJson(const RankBreakdown& breakdown)
{
    Json object = Json::object();
    for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
    {
        object[ToString(static_cast<TimeCategory>(i))] = breakdown.spent[i].ToSeconds();
    }
    return object;
}

/** The timing keys of one job; the top object has the same keys for the first job. */
Json
TimingOf(const JobResult& job)
{
    Json object;
    const bool finished = !job.steps.empty();
    const bool isModel = finished && !job.isWorkload;
    const double seconds = job.stepTime.ToSeconds();
    const double flops = job.modelFlopsPerStep.ToDouble() / seconds / job.gpus;
    object["step_time_s"] = finished ? Json(seconds) : Json(nullptr);
    object["step_time_kind"] = ToString(job.stepKind);
    object["steps_s"] = Json::array();
    for (const Time step : job.steps)
    {
        object["steps_s"].push_back(step.ToSeconds());
    }
    if (job.steps.size() > 1)
    {
        const TimeSpread spread = SpreadOf(job.steps);
        object["steps_mean_s"] = spread.mean;
        object["steps_median_s"] = spread.median;
        object["steps_p95_s"] = spread.p95;
        object["steps_deviation_s"] = spread.deviation;
    }
    object["breakdown_s"] = ToJson(job.mean);
    object[job.countsSamples ? "samples_per_s" : "tokens_per_s"] =
        isModel ? Json(job.itemsPerStep / seconds) : Json(nullptr);
    object["model_tflops_per_gpu"] = isModel ? Json(flops * 1e-12) : Json(nullptr);
    return object;
}

Json
ToJson(const MemoryEstimate& memory)
{
    Json object{{"stage", memory.stage}};
    for (const auto& [name, bytes] : MemoryEstimate::PARTS)
    {
        object[name] = (memory.*bytes).Count();
    }
    object["total"] = memory.Total().Count();
    return object;
}

Json
ToJson(const JobResult& job)
{
    Json object = {{"name", job.name}, {"gpus", job.gpus}};
    object.update(TimingOf(job));
    object["gpu_memory_bytes"] = job.isWorkload ? Json(nullptr) : ToJson(job.memory);
    object["stages"] = Json::array();
    for (const auto& stage : job.stages)
    {
        object["stages"].push_back(ToJson(stage));
    }
    return object;
}

/** @p value, or null if there are no samples. */
Json
NumberOf(bool isAny, double value)
{
    return isAny ? Json(value) : Json(nullptr);
}

void
AddCalls(const std::vector<Time>& calls, Rate busBandwidth, Json& object)
{
    const bool isAny = !calls.empty();
    const TimeSpread spread = SpreadOf(calls);
    object["calls"] = calls.size();
    object["mean_s"] = NumberOf(isAny, spread.mean);
    object["median_s"] = NumberOf(isAny, spread.median);
    object["p95_s"] = NumberOf(isAny, spread.p95);
    object["busbw_GBps"] = NumberOf(isAny, busBandwidth.ToGBps());
}

Json
ToJson(const CollectiveCall& call)
{
    return {{"collective", ToString(call.op)}, {"size_bytes", call.bytes.Count()}};
}

Json
ToJson(const CollectiveJobResult& job)
{
    Json object = {{"name", job.name}};
    if (job.sequence.size() == 1)
    {
        object.update(ToJson(job.sequence.front()));
    }
    object["gpus"] = job.gpus;
    AddCalls(job.calls, job.busBandwidth, object);
    for (std::size_t i = 0; i < job.sequence.size() && job.sequence.size() > 1; i++)
    {
        std::vector<Time> own;
        for (std::size_t call = i; call < job.calls.size(); call += job.sequence.size())
        {
            own.push_back(job.calls[call]);
        }
        Json each = ToJson(job.sequence[i]);
        AddCalls(own, BusBandwidthOf({job.sequence[i]}, own, job.gpus), each);
        object["sequence"].push_back(std::move(each));
    }
    return object;
}

Json
ToJson(const TrafficJobResult& job)
{
    const auto times = Mapped<double>(job.times, &Time::ToSeconds);
    const bool isAny = !times.empty();
    const Percentiles fct = PercentilesOf(times);
    const Percentiles slowdown = PercentilesOf(job.slowdowns);
    return {{"name", job.name},
            {"pattern", ToString(job.kind)},
            {"gpus", job.gpus},
            {"flows", job.started},
            {"finished", job.times.size()},
            {"bytes", job.bytes.Count()},
            {"fct_p50_s", NumberOf(isAny, fct.p50)},
            {"fct_p95_s", NumberOf(isAny, fct.p95)},
            {"fct_p99_s", NumberOf(isAny, fct.p99)},
            {"slowdown_p50", NumberOf(isAny, slowdown.p50)},
            {"slowdown_p95", NumberOf(isAny, slowdown.p95)},
            {"slowdown_p99", NumberOf(isAny, slowdown.p99)}};
}

Json
ToJson(const MeasuredBound& bound, Time step)
{
    return {{"lower_s", step.ToSeconds() * bound.lower},
            {"upper_s", step.ToSeconds() * bound.upper},
            {"coverage", bound.coverage},
            {"nested_coverage", bound.nestedCoverage},
            {"sources", bound.sources}};
}

Json
AutoJson(const Scenario& scenario, const RunResult& result)
{
    Json calls = Json::array();
    for (const FidelityUse& use : result.fidelityUses)
    {
        calls.push_back({{"collective", ToString(use.op)},
                         {"algorithm", ToString(use.algorithm)},
                         {"ranks", use.ranks},
                         {"fidelity", ToString(use.choice.fidelity)},
                         {"reason", ToString(use.choice.reason)},
                         {"calls", use.calls}});
    }
    return {{"tolerance", scenario.automatic.tolerance},
            {"coverage", scenario.automatic.coverage},
            {"step", result.bound ? Json(ToString(Fidelity::Analytical)) : Json(nullptr)},
            {"calls", std::move(calls)}};
}

/** Counters of the episodes that were replayed without simulating packets. */
Json
ToJson(const ReplayCounters& replay)
{
    return {{"episodes", replay.episodes},
            {"replayed_episodes", replay.replayed},
            {"flows", replay.flows},
            {"replayed_flows", replay.replayedFlows},
            {"replayed_periods", replay.periods},
            {"settled_periods", replay.settled.periods},
            {"settled_flows", replay.settled.flows},
            {"settled_s", Time::Picoseconds(replay.settled.time).ToSeconds()},
            {"packet_events", replay.events},
            {"repeated_packet_events", replay.repeatedEvents},
            {"moves", replay.moves},
            {"largest_move_s", Time::Picoseconds(replay.largestMove).ToSeconds()}};
}

} // namespace

Json
BoundJson(const ErrorBound& bound, double time, const std::string& unit)
{
    const bool isInside = bound.IsInside();
    return {{"lower_" + unit, isInside ? Json(time * bound.lower) : Json(nullptr)},
            {"upper_" + unit, isInside ? Json(time * bound.upper) : Json(nullptr)},
            {"coverage", bound.coverage},
            {"regime", bound.regime},
            {"region", bound.region},
            {"reference", bound.reference}};
}

std::string
ToJson(const Scenario& scenario, const RunResult& result)
{
    Json object = {{"title", scenario.title}, {"fidelity", ToString(scenario.fidelity)}};
    if (scenario.sharing.tolerance > 0)
    {
        object["sharing_tolerance"] = scenario.sharing.tolerance;
    }
    if (!result.jobs.empty())
    {
        object.update(TimingOf(result.jobs.front()));
    }
    if (result.bound)
    {
        object["bound"] = BoundJson(*result.bound, result.BoundedTime().ToSeconds(), "s");
    }
    if (result.measuredBound)
    {
        object["measured_bound"] = ToJson(*result.measuredBound, result.StepTime());
    }
    if (scenario.fidelity == Fidelity::Auto)
    {
        object["auto"] = AutoJson(scenario, result);
    }
    if (result.replay)
    {
        object["replay"] = ToJson(*result.replay);
    }
    AddCoupling(object, result);
    object["jobs"] = Json::array();
    for (const auto& job : result.jobs)
    {
        object["jobs"].push_back(ToJson(job));
    }
    object["collectives"] = Json::array();
    for (const auto& each : result.collectives)
    {
        object["collectives"].push_back(ToJson(each));
    }
    for (const auto& each : result.traffics)
    {
        object["traffic"].push_back(ToJson(each));
    }
    AddBusiestLinks(object, result);
    object["events"] = result.events;
    object["wall_s"] = result.wallSeconds;
    object["peak_rss_bytes"] = result.peakRssBytes;
    if (result.isPartial)
    {
        object["partial"] = true;
    }
    if (!result.waiting.empty())
    {
        object["waiting"] = result.waiting;
    }
    return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

} // namespace weir
