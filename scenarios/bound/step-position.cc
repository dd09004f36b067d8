// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/step-position.h"

#include <algorithm>
#include <variant>

namespace weir
{

namespace
{

/** Part of a step that ranks spend on communication and nothing else, on the average. */
double
ExposedShare(const RankBreakdown& mean)
{
    double total = 0;
    double exposed = 0;
    for (std::size_t i = 0; i < TIME_CATEGORY_COUNT; i++)
    {
        const double seconds = mean.spent[i].ToSeconds();
        total += seconds;
        switch (static_cast<TimeCategory>(i))
        {
        case TimeCategory::Compute:
        case TimeCategory::Copy:
        case TimeCategory::Bubble:
        case TimeCategory::Launch:
            break;
        default:
            exposed += seconds;
        }
    }
    return total > 0 ? exposed / total : 0;
}

const char*
ExposureClass(double exposed)
{
    constexpr double SMALL = 0.05;
    constexpr double LARGE = 0.25;
    return exposed < SMALL ? "compute" : exposed < LARGE ? "mixed" : "communication";
}

bool
HasStragglers(const Scenario& scenario)
{
    return std::any_of(scenario.jobs.begin(), scenario.jobs.end(), [](const JobSpec& job) {
        return job.jitter.IsOn();
    });
}

/** The shortcut, and what of the scenario no calibration covers. */
std::string
ShortcutClass(const Scenario& scenario)
{
    const bool isTransformer = std::holds_alternative<Transformer>(scenario.jobs.front().network);
    std::string name = ToString(scenario.fidelity);
    name += isTransformer ? "" : " of layer tables";
    name += scenario.events.empty() ? "" : " with events";
    name += scenario.collectives.empty() ? "" : " beside collectives";
    return name + (HasStragglers(scenario) ? " with stragglers" : "");
}

} // namespace

std::vector<std::string>
StepFeatureNames()
{
    return {"GPUs",
            "replicas of a stage",
            "ms of step",
            "share of exposed communication",
            "oversubscription",
            "GB/s of a GPU inside its node",
            "GB/s of a GPU's network"};
}

RegimePosition
PositionOf(const Scenario& scenario, const RunResult& result)
{
    const JobResult& job = result.jobs.front();
    const bool isNetworked = scenario.cluster.nodes > 1;
    const bool routesByLoad = scenario.cluster.fabric.routing->IsLoadAware();
    constexpr double EVEN = 1.05; // of rounding to whole links
    const bool isContended = isNetworked && (result.cluster.oversubscription > EVEN ||
                                             routesByLoad || scenario.jobs.size() > 1);
    const ParallelPlan& plan = scenario.jobs.front().plan;
    const double exposed = ExposedShare(job.mean);
    return {{ShortcutClass(scenario),
             isContended ? "contended" : "uncontended",
             ExposureClass(exposed)},
            {FeatureOf(job.gpus),
             FeatureOf(static_cast<double>(plan.data) * plan.context),
             FeatureOf(job.stepTime.ToMicroseconds() / 1000),
             FeatureOf(exposed),
             isNetworked ? FeatureOf(result.cluster.oversubscription) : 0,
             FeatureOf(result.cluster.nodeRate),
             isNetworked ? FeatureOf(result.cluster.networkRate) : 0}};
}

} // namespace weir
