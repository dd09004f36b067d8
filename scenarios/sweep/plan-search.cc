// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/sweep/plan-search.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

namespace weir
{
namespace
{

constexpr uint32_t MAX_MICRO_BATCH = 8; // samples

/** The values of a plan that vary, except sequenceParallel, which follows from the tensor ranks. */
constexpr const char* COLUMNS[] = {
    "tensor", "pipeline", "data", "schedule", "virtualStages", "microBatch", "recomputation"};

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

/** The names of the plan's values below @p key that `--set` gives, which do not vary. */
std::set<std::string>
NamesSet(const std::vector<std::string>& settings, const std::string& key)
{
    std::set<std::string> names;
    for (const std::string& setting : settings)
    {
        const std::string set = setting.substr(0, setting.find('='));
        if (set.compare(0, key.size() + 1, key + ".") == 0)
        {
            names.insert(set.substr(key.size() + 1));
        }
    }
    return names;
}

const char*
NameOf(bool value)
{
    return value ? "true" : "false";
}

/** Tensor ranks, pipeline stages and replicas. */
using Division = std::array<uint32_t, 3>;

/** The values that a search tries in place of those of a job's plan. */
class PlanValues
{
  public:
    /** @param kept names of the values of @p plan that do not vary */
    PlanValues(const ParallelPlan& plan, std::set<std::string> kept)
        : m_plan(plan),
          m_kept(std::move(kept))
    {
    }

    bool Keeps(const char* name) const
    {
        return m_kept.count(name) > 0;
    }

    /**
     * All factorizations of @p gpus GPUs in which the tensor ranks divide the @p node GPUs of a
     * node.
     */
    std::vector<Division> Divisions(uint32_t gpus, uint32_t node) const
    {
        std::vector<Division> divisions;
        for (const uint32_t tensor : Counts("tensor", m_plan.tensor, std::min(gpus, node)))
        {
            for (const uint32_t pipeline : Counts("pipeline", m_plan.pipeline, gpus / tensor))
            {
                if (gpus % tensor != 0 || node % tensor != 0 || gpus / tensor % pipeline != 0)
                {
                    continue;
                }
                const uint32_t data = gpus / tensor / pipeline;
                if (!Keeps("data") || data == m_plan.data)
                {
                    divisions.push_back({tensor, pipeline, data});
                }
            }
        }
        return divisions;
    }

    /** Samples of a micro-batch. */
    std::vector<uint32_t> MicroBatches() const
    {
        return Counts("microBatch", m_plan.microBatch, MAX_MICRO_BATCH);
    }

    /** Model chunks per stage. */
    std::vector<uint32_t> Chunks() const
    {
        return Keeps("virtualStages") ? std::vector{m_plan.virtualStages}
                                      : std::vector<uint32_t>{1, 2, 4};
    }

    /** None, full, and the plan's own, which may come from a framework. */
    std::vector<Recomputation> Recomputations() const
    {
        if (Keeps("recomputation"))
        {
            return {m_plan.recomputation};
        }
        std::vector<Recomputation> all{Recomputation::None, Recomputation::Full};
        if (m_plan.recomputation != Recomputation::None &&
            m_plan.recomputation != Recomputation::Full)
        {
            all.insert(all.begin() + 1, m_plan.recomputation);
        }
        return all;
    }

    /** The schedule of stages with @p chunks model chunks each. */
    PipelineScheduleKind ScheduleOf(uint32_t chunks) const
    {
        if (Keeps("schedule"))
        {
            return m_plan.schedule;
        }
        if (chunks > 1)
        {
            return PipelineScheduleKind::Interleaved;
        }
        return m_plan.schedule == PipelineScheduleKind::Interleaved
                   ? PipelineScheduleKind::OneForwardOneBackward
                   : m_plan.schedule;
    }

    /** Whether @p tensor ranks split the sequence. */
    bool IsSequenceParallel(uint32_t tensor) const
    {
        return Keeps("sequenceParallel") ? m_plan.sequenceParallel
                                         : tensor > 1 && !m_plan.HasGrid();
    }

  private:
    /** The value @p own where the plan keeps it, else 1 to @p max. */
    std::vector<uint32_t> Counts(const char* name, uint32_t own, uint32_t max) const
    {
        std::vector<uint32_t> counts{own};
        if (!Keeps(name))
        {
            counts.resize(max);
            std::iota(counts.begin(), counts.end(), 1U);
        }
        return counts;
    }

    const ParallelPlan& m_plan;
    std::set<std::string> m_kept;
};

} // namespace

std::vector<std::vector<std::string>>
DivisionsOf(const Scenario& scenario, std::size_t job, uint32_t gpus)
{
    const ParallelPlan& plan = scenario.jobs[job].plan;
    const PlanValues values(plan, {});
    const std::string key = KeyOf(scenario.jobs[job].where) + ".";
    std::vector<std::vector<std::string>> all;
    if (gpus % plan.context != 0)
    {
        return all;
    }
    for (const auto& [tensor, pipeline, data] :
         values.Divisions(gpus / plan.context, scenario.cluster.node.gpus))
    {
        all.push_back({key + "tensor=" + std::to_string(tensor),
                       key + "pipeline=" + std::to_string(pipeline),
                       key + "data=" + std::to_string(data),
                       key + "schedule=" + NameOf(ScheduleNames(), values.ScheduleOf(1)),
                       key + "virtualStages=1",
                       key + "microBatch=" + std::to_string(plan.SampleParts()),
                       key + "sequenceParallel=false"});
    }
    return all;
}

bool
SetsVaried(const std::string& setting)
{
    const std::string key = setting.substr(0, setting.find('='));
    const auto dot = key.rfind('.');
    const std::string above = key.substr(0, dot);
    const std::string plan = ".parallel";
    return dot != std::string::npos && above.size() > plan.size() &&
           above.compare(above.size() - plan.size(), plan.size(), plan) == 0 &&
           (key.substr(dot + 1) == "sequenceParallel" ||
            std::find(std::begin(COLUMNS), std::end(COLUMNS), key.substr(dot + 1)) !=
                std::end(COLUMNS));
}

Sweep
PlansOf(const Scenario& scenario,
        std::size_t job,
        const std::vector<std::string>& words,
        const std::vector<std::string>& settings)
{
    const ParallelPlan& plan = scenario.jobs[job].plan;
    const std::string key = KeyOf(scenario.jobs[job].where);
    const PlanValues values(plan, NamesSet(settings, key));
    Sweep sweep;
    sweep.path = scenario.path;
    sweep.title = scenario.title;
    sweep.folder = std::filesystem::current_path().string();
    sweep.columns.assign(std::begin(COLUMNS), std::end(COLUMNS));
    for (const std::string& column : sweep.columns)
    {
        sweep.keys.push_back(key + "." + column);
    }
    std::vector<std::string> common = words;
    for (const std::string& setting : settings)
    {
        common.insert(common.end(), {"--set", setting});
    }
    const auto add = [&](std::vector<std::string> varied, uint32_t tensor) {
        SweepCase plans{varied, common};
        for (std::size_t i = 0; i < varied.size(); i++)
        {
            plans.words.insert(plans.words.end(), {"--set", sweep.keys[i] + "=" + varied[i]});
        }
        plans.words.insert(
            plans.words.end(),
            {"--set", key + ".sequenceParallel=" + NameOf(values.IsSequenceParallel(tensor))});
        sweep.cases.push_back(std::move(plans));
    };
    const uint32_t gpus = plan.tensor * plan.pipeline * plan.data;
    const uint32_t node = scenario.cluster.node.gpus;
    for (const auto& [tensor, pipeline, data] : values.Divisions(gpus, node))
    {
        for (const uint32_t batch : values.MicroBatches())
        {
            for (const uint32_t chunks : values.Chunks())
            {
                if (plan.globalBatch % (uint64_t{data} * batch) != 0 ||
                    (chunks > 1 && pipeline == 1))
                {
                    continue;
                }
                for (const Recomputation recomputation : values.Recomputations())
                {
                    add({std::to_string(tensor),
                         std::to_string(pipeline),
                         std::to_string(data),
                         NameOf(ScheduleNames(), values.ScheduleOf(chunks)),
                         std::to_string(chunks),
                         std::to_string(batch),
                         NameOf(RecomputationNames(), recomputation)},
                        tensor);
                }
            }
        }
    }
    if (sweep.cases.empty())
    {
        throw InputError("--set: found " + JoinNames(settings) + ", with which " +
                         std::to_string(gpus) + " GPUs in nodes of " + std::to_string(node) +
                         " have no plan, expected values of a plan");
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
