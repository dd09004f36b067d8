// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/plan-search.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/yaml/input-error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace weir
{
namespace
{

constexpr uint32_t MAX_MICRO_BATCH = 8;    // samples
constexpr uint32_t MAX_VIRTUAL_STAGES = 4; // model chunks per stage

/** The key in a location: "jobs.0.parallel" in "run.yaml:5:3: jobs.0.parallel". */
std::string
KeyOf(const std::string& where)
{
    const auto colon = where.rfind(": ");
    const std::string key = colon == std::string::npos ? where : where.substr(colon + 2);
    if (key.compare(0, 5, "jobs.") != 0)
    {
        throw InputError("search: found no location of the job's plan ('" + where +
                         "'), expected a job with parallel in a run's file");
    }
    return key;
}

/** The recomputations to try: none, full, and the plan's own, which may come from a framework. */
std::vector<Recomputation>
RecomputationsOf(const ParallelPlan& plan)
{
    std::vector<Recomputation> all{Recomputation::None, Recomputation::Full};
    if (plan.recomputation != Recomputation::None && plan.recomputation != Recomputation::Full)
    {
        all.insert(all.begin() + 1, plan.recomputation);
    }
    return all;
}

/** The schedule of stages with @p chunks model chunks each. */
PipelineScheduleKind
ScheduleOf(const ParallelPlan& plan, uint32_t chunks)
{
    if (chunks > 1)
    {
        return PipelineScheduleKind::Interleaved;
    }
    return plan.schedule == PipelineScheduleKind::Interleaved
               ? PipelineScheduleKind::OneForwardOneBackward
               : plan.schedule;
}

/** Tensor ranks, pipeline stages and replicas. */
using Division = std::array<uint32_t, 3>;

/**
 * All factorizations of @p gpus GPUs in which the tensor ranks divide the @p node GPUs of a node.
 */
std::vector<Division>
DivisionsOf(uint32_t gpus, uint32_t node)
{
    std::vector<Division> divisions;
    for (uint32_t tensor = 1; tensor <= std::min(gpus, node); tensor++)
    {
        for (uint32_t pipeline = 1; pipeline <= gpus / tensor; pipeline++)
        {
            if (gpus % tensor == 0 && node % tensor == 0 && gpus / tensor % pipeline == 0)
            {
                divisions.push_back({tensor, pipeline, gpus / tensor / pipeline});
            }
        }
    }
    return divisions;
}

} // namespace

std::vector<std::vector<std::string>>
DivisionsOf(const Scenario& scenario, std::size_t job, uint32_t gpus)
{
    const ParallelPlan& plan = scenario.jobs[job].plan;
    const std::string key = KeyOf(scenario.jobs[job].where) + ".";
    std::vector<std::vector<std::string>> all;
    if (gpus % plan.context != 0)
    {
        return all;
    }
    for (const auto& [tensor, pipeline, data] :
         DivisionsOf(gpus / plan.context, scenario.cluster.node.gpus))
    {
        all.push_back({key + "tensor=" + std::to_string(tensor),
                       key + "pipeline=" + std::to_string(pipeline),
                       key + "data=" + std::to_string(data),
                       key + "schedule=" + NameOf(ScheduleNames(), ScheduleOf(plan, 1)),
                       key + "virtualStages=1",
                       key + "microBatch=" + std::to_string(plan.SampleParts()),
                       key + "sequenceParallel=false"});
    }
    return all;
}

Sweep
PlansOf(const Scenario& scenario, std::size_t job, const std::vector<std::string>& words)
{
    const ParallelPlan& plan = scenario.jobs[job].plan;
    const std::string key = KeyOf(scenario.jobs[job].where);
    Sweep sweep;
    sweep.path = scenario.path;
    sweep.title = scenario.title;
    sweep.folder = std::filesystem::current_path().string();
    sweep.columns = {
        "tensor", "pipeline", "data", "schedule", "virtualStages", "microBatch", "recomputation"};
    for (const std::string& column : sweep.columns)
    {
        sweep.keys.push_back(key + "." + column);
    }
    const auto add = [&](std::vector<std::string> values) {
        SweepCase plans{values, words};
        for (std::size_t i = 0; i < values.size(); i++)
        {
            plans.words.insert(plans.words.end(), {"--set", sweep.keys[i] + "=" + values[i]});
        }
        const char* divides = values.front() == "1" || plan.HasGrid() ? "false" : "true";
        plans.words.insert(plans.words.end(),
                           {"--set", key + ".sequenceParallel=" + std::string(divides)});
        sweep.cases.push_back(std::move(plans));
    };
    const uint32_t gpus = plan.tensor * plan.pipeline * plan.data;
    const uint32_t node = scenario.cluster.node.gpus;
    for (const auto& [tensor, pipeline, data] : DivisionsOf(gpus, node))
    {
        for (uint32_t batch = 1; batch <= MAX_MICRO_BATCH; batch++)
        {
            for (uint32_t chunks = 1; chunks <= MAX_VIRTUAL_STAGES; chunks *= 2)
            {
                if (plan.globalBatch % (data * batch) != 0 || (chunks > 1 && pipeline == 1))
                {
                    continue;
                }
                for (const Recomputation recomputation : RecomputationsOf(plan))
                {
                    add({std::to_string(tensor),
                         std::to_string(pipeline),
                         std::to_string(data),
                         NameOf(ScheduleNames(), ScheduleOf(plan, chunks)),
                         std::to_string(chunks),
                         std::to_string(batch),
                         NameOf(RecomputationNames(), recomputation)});
                }
            }
        }
    }
    return sweep;
}

void
RankBySteps(std::size_t job, Sweep& sweep, std::vector<EndedCase>& ended)
{
    std::vector<std::pair<double, std::size_t>> steps; // s, by case
    for (std::size_t i = 0; i < ended.size(); i++)
    {
        const auto result = nlohmann::json::parse(ended[i].output, nullptr, false);
        if (ended[i].exit != 0 || !result.is_object() || !result.contains("jobs") ||
            result["jobs"].size() <= job)
        {
            continue;
        }
        const auto& step = result["jobs"][job]["step_time_s"];
        if (step.is_number())
        {
            steps.emplace_back(step.get<double>(), i);
        }
    }
    std::sort(steps.begin(), steps.end());
    Sweep ranked = sweep;
    ranked.cases.clear();
    std::vector<EndedCase> rankedEnds;
    for (const auto& [step, number] : steps)
    {
        ranked.cases.push_back(std::move(sweep.cases[number]));
        rankedEnds.push_back(std::move(ended[number]));
    }
    sweep = std::move(ranked);
    ended = std::move(rankedEnds);
}

} // namespace weir
