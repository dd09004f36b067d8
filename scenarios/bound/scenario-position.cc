// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/scenario-position.h"

#include "collectives/engines/call-classes.h"
#include "scenarios/bound/call-position.h"
#include "scenarios/bound/sampled-fabric.h"
#include "scenarios/writers/parameter-writer.h"

#include <algorithm>
#include <variant>

namespace weir
{

namespace
{

/** Share of a step that ranks spend on exposed communication, averaged over ranks. */
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

bool
HasOtherJobs(const Scenario& scenario)
{
    return scenario.jobs.size() > 1 || !scenario.collectives.empty() || !scenario.traffics.empty();
}

std::size_t
LinkEvents(const Scenario& scenario)
{
    return static_cast<std::size_t>(
        std::count_if(scenario.events.begin(), scenario.events.end(), [](const EventSpec& event) {
            return event.IsOnLinks();
        }));
}

bool
HasStragglers(const Scenario& scenario)
{
    return LinkEvents(scenario) < scenario.events.size() ||
           std::any_of(scenario.jobs.begin(), scenario.jobs.end(), [](const JobSpec& job) {
               return job.jitter.IsOn();
           });
}

/** The concurrent jobs or events that no sample contains; empty: none. */
std::string
UnsampledNeighbor(const Scenario& scenario)
{
    const std::size_t jobs =
        scenario.jobs.size() + scenario.collectives.size() + scenario.traffics.size();
    const std::size_t linkEvents = LinkEvents(scenario);
    if (jobs > 2)
    {
        return "more than two jobs";
    }
    if (linkEvents > 1)
    {
        return "several events on links";
    }
    if (linkEvents == 1 && jobs > 1)
    {
        return "link events with other jobs";
    }
    for (const EventSpec& event : scenario.events)
    {
        if (event.kind == EventKind::LinkDown || event.kind == EventKind::LinkUp ||
            event.kind == EventKind::Flap)
        {
            return "links down at given times";
        }
    }
    for (const TrafficJobSpec& other : scenario.traffics)
    {
        if (other.traffic.kind != TrafficKind::Permutation)
        {
            return std::string("traffic ") + ToString(other.traffic.kind);
        }
    }
    return "";
}

/** The part of the scenario that no sample of steps contains; empty: none. */
std::string
UnsampledPart(const Scenario& scenario, const JobSpec& job)
{
    const std::string fabric = UnsampledFabric(scenario.cluster);
    const std::string version = UnsampledNcclVersion(scenario.nccl.version);
    const std::vector<std::string> settings = scenario.nccl.Changed();
    const std::string neighbor = UnsampledNeighbor(scenario);
    return !fabric.empty()                                     ? fabric
           : job.recorded                                      ? "an imported workload"
           : !std::holds_alternative<Transformer>(job.network) ? "a table of layers"
           : !version.empty()                                  ? version
           : !settings.empty()                                 ? settings.front()
           : !neighbor.empty()                                 ? neighbor
           : HasStragglers(scenario)                           ? "stragglers"
           : scenario.sharing.tolerance > 0                    ? "sharing.tolerance"
           : scenario.corrections.IsOn()                       ? "corrections"
                                                               : "";
}

/** As IsContended, where the cluster's features are known. */
bool
IsContended(const Scenario& scenario, const ClusterFeatures& features)
{
    const bool isShared = scenario.HasLinkEvents() || HasOtherJobs(scenario);
    const bool isUneven =
        scenario.cluster.nodes > 1 &&
        (features.IsOversubscribed() || scenario.cluster.fabric.routing->IsLoadAware());
    return isShared || isUneven;
}

/** Layer passes of a rank in a step. */
double
LayerPasses(const JobSpec& job)
{
    const auto* model = std::get_if<Transformer>(&job.network);
    const double layers = model == nullptr ? 1 : model->layers;
    return layers / job.plan.pipeline * job.plan.MicroBatches();
}

/** The part of the scenario that no sample of jobs contains; empty: none. */
std::string
UnsampledPart(const Scenario& scenario, Fidelity reference)
{
    const auto isSimple = [](const CollectiveJobSpec& job) {
        return job.sequence.size() == 1 && job.period == Time() && job.start == Time();
    };
    const auto& jobs = scenario.collectives;
    return jobs.size() > 2                                    ? "more than two jobs"
           : !scenario.traffics.empty()                       ? "traffic"
           : !scenario.events.empty()                         ? "events"
           : !std::all_of(jobs.begin(), jobs.end(), isSimple) ? "jobs other than repeated calls"
           : scenario.sharing.tolerance > 0                   ? "sharing.tolerance"
           : scenario.corrections.IsOn()                      ? "corrections"
           : reference == Fidelity::Packet &&
                   DescribePackets(scenario.packets) != DescribePackets(PacketSpec())
               ? "packets other than the defaults"
               : "";
}

/** Whether calls of another job slow those of the first. */
bool
IsSlowedByOthers(Simulation& simulation)
{
    CallClasses classes(simulation.GetPlanner());
    for (const auto& loop : simulation.Collectives())
    {
        classes.Add({{loop->GetCall()}, {}});
    }
    return !classes.Met(0).empty();
}

/** Whether some call forwards chunks from rank to rank. */
bool
IsPipelined(Simulation& simulation)
{
    const auto& loops = simulation.Collectives();
    return std::any_of(loops.begin(), loops.end(), [&](const auto& loop) {
        const CollectivePlan& plan = simulation.GetPlanner().Plan(loop->GetCall());
        return plan.algorithm != Algorithm::PointToPoint;
    });
}

/** Ranks of the largest group. */
uint32_t
MaxRanks(Simulation& simulation)
{
    Planner& planner = simulation.GetPlanner();
    uint32_t max = 0;
    for (const auto& loop : simulation.Collectives())
    {
        max = std::max(max, planner.GetGroup(loop->GetCall().communicator).Size());
    }
    return max;
}

constexpr const char* CONCURRENT = "concurrent";

} // namespace

std::vector<std::string>
StepFeatureNames()
{
    return {"GPUs",
            "replicas per stage",
            "time per layer and micro-batch (ms)",
            "exposed communication fraction",
            "oversubscription",
            "intra-node bandwidth per GPU (GB/s)",
            "network bandwidth per GPU (GB/s)"};
}

bool
IsContended(const Scenario& scenario)
{
    return IsContended(scenario, FeaturesOf(Cluster(scenario.cluster)));
}

RegimePosition
PositionOf(const Scenario& scenario, const RunResult& result, std::size_t index)
{
    const JobResult& job = result.jobs.at(index);
    const bool isNetworked = scenario.cluster.nodes > 1;
    const JobSpec& spec = scenario.jobs.at(index);
    const double passes = LayerPasses(spec);
    const double exposed = ExposedShare(job.mean);
    const bool isContended = IsContended(scenario, result.cluster);
    // Errors under contention are larger, so a regime of all loads must not stand for these.
    const std::size_t minDepth = isContended ? 2 : 1;
    return {{ToString(scenario.fidelity), isContended ? CONTENDED : UNCONTENDED},
            {FeatureOf(job.gpus),
             FeatureOf(static_cast<double>(spec.plan.data) * spec.plan.context),
             FeatureOf(job.stepTime.ToMicroseconds() / 1000 / passes),
             FeatureOf(exposed),
             isNetworked ? FeatureOf(result.cluster.oversubscription) : 0,
             FeatureOf(result.cluster.nodeRate),
             isNetworked ? FeatureOf(result.cluster.networkRate) : 0},
            minDepth,
            UnsampledPart(scenario, spec)};
}

RegimePosition
PositionOfCalls(const Scenario& scenario, Simulation& simulation, Fidelity reference)
{
    Planner& planner = simulation.GetPlanner();
    const CollectivePlan& plan = planner.Plan(simulation.Collectives().front()->GetCall());
    RegimePosition position = CallPositions(planner).Of(plan, scenario.fidelity);
    const bool isConcurrent = IsSlowedByOthers(simulation);
    const std::string size = position.path.at(CallPositions::SIZE);
    const std::string contention =
        isConcurrent && FeaturesOf(simulation.GetCluster()).IsOversubscribed()
            ? CONTENDED
            : position.path.at(CallPositions::CONTENTION);
    position.path = {ToString(scenario.fidelity),
                     "jobs",
                     GroupClass(MaxRanks(simulation)),
                     isConcurrent ? CONCURRENT : "isolated",
                     IsPipelined(simulation) ? "pipelined" : "exchange"};
    if (isConcurrent)
    {
        position.path.push_back(size); // only the time that bytes take is slowed by others
    }
    position.path.push_back(contention);
    position.minDepth = position.path.size() - 1;
    if (position.unsampled.empty())
    {
        position.unsampled = UnsampledPart(scenario, reference);
    }
    return position;
}

bool
IsConcurrent(const RegimePosition& position)
{
    constexpr std::size_t BY_OTHERS = 3; // index in the path of PositionOfCalls
    return position.path.at(BY_OTHERS) == CONCURRENT;
}

} // namespace weir
