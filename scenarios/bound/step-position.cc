// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/step-position.h"

#include "scenarios/bound/sampled-fabric.h"

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
IsSlowGpu(const EventSpec& event)
{
    return event.kind == EventKind::SlowGpu;
}

bool
HasLinkEvents(const Scenario& scenario)
{
    return !std::all_of(scenario.events.begin(), scenario.events.end(), IsSlowGpu);
}

bool
HasOtherJobs(const Scenario& scenario)
{
    return scenario.jobs.size() > 1 || !scenario.collectives.empty() || !scenario.traffics.empty();
}

bool
HasStragglers(const Scenario& scenario)
{
    return std::any_of(scenario.events.begin(), scenario.events.end(), IsSlowGpu) ||
           std::any_of(scenario.jobs.begin(), scenario.jobs.end(), [](const JobSpec& job) {
               return job.jitter.IsOn();
           });
}

/** Whether nothing but the version is set: no sample of steps has more. */
bool
IsNcclSampled(const NcclSettings& nccl)
{
    const NcclSettings defaults;
    return nccl.filter.GetAlgorithms().empty() && nccl.filter.GetProtocols().empty() &&
           nccl.tuner.empty() && nccl.queuePairs == defaults.queuePairs &&
           nccl.channelLimits.least == defaults.channelLimits.least &&
           nccl.channelLimits.most == defaults.channelLimits.most &&
           nccl.crossNic == defaults.crossNic && nccl.p2pLevel == defaults.p2pLevel &&
           nccl.simpleBuffer == defaults.simpleBuffer;
}

/** The shortcut, and what of the scenario no calibration covers. */
std::string
ShortcutClass(const Scenario& scenario, const JobSpec& job)
{
    const bool isTransformer = std::holds_alternative<Transformer>(job.network);
    std::string name = ToString(scenario.fidelity) + UnsampledFabric(scenario.cluster);
    name += isTransformer ? "" : " of layer tables";
    name += IsNcclSampled(scenario.nccl) ? "" : " with NCCL's settings";
    name += HasLinkEvents(scenario) && HasOtherJobs(scenario) ? " with events and other jobs" : "";
    return name + (HasStragglers(scenario) ? " with stragglers" : "");
}

/** Whether anything but the job's own calls in turn may decide how long these take. */
bool
IsContended(const Scenario& scenario, double oversubscription)
{
    constexpr double EVEN = 1.05; // of rounding to whole links
    const bool isShared = HasLinkEvents(scenario) || HasOtherJobs(scenario);
    const bool isUneven =
        scenario.cluster.nodes > 1 &&
        (oversubscription > EVEN || scenario.cluster.fabric.routing->IsLoadAware());
    return isShared || isUneven;
}

/** How often a rank passes through a layer in a step. */
double
LayerPasses(const JobSpec& job)
{
    const auto* model = std::get_if<Transformer>(&job.network);
    const double layers = model == nullptr ? 1 : model->layers;
    return layers / job.plan.pipeline * job.plan.MicroBatches();
}

} // namespace

std::vector<std::string>
StepFeatureNames()
{
    return {"GPUs",
            "replicas of a stage",
            "ms of a pass through a layer",
            "share of exposed communication",
            "oversubscription",
            "GB/s of a GPU inside its node",
            "GB/s of a GPU's network"};
}

RegimePosition
PositionOf(const Scenario& scenario, const RunResult& result, std::size_t index)
{
    const JobResult& job = result.jobs.at(index);
    const bool isNetworked = scenario.cluster.nodes > 1;
    const JobSpec& spec = scenario.jobs.at(index);
    const double passes = LayerPasses(spec);
    const double exposed = ExposedShare(job.mean);
    const bool isContended = IsContended(scenario, result.cluster.oversubscription);
    // Errors under contention are larger: a regime of all loads does not stand for these.
    const std::size_t leastDepth = isContended ? 2 : 1;
    return {{ShortcutClass(scenario, spec),
             isContended ? "contended" : "uncontended",
             ExposureClass(exposed)},
            {FeatureOf(job.gpus),
             FeatureOf(static_cast<double>(spec.plan.data) * spec.plan.context),
             FeatureOf(job.stepTime.ToMicroseconds() / 1000 / passes),
             FeatureOf(exposed),
             isNetworked ? FeatureOf(result.cluster.oversubscription) : 0,
             FeatureOf(result.cluster.nodeRate),
             isNetworked ? FeatureOf(result.cluster.networkRate) : 0},
            leastDepth};
}

} // namespace weir
