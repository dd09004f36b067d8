// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner.h"

#include "collectives/algorithms/imported/imported-check.h"
#include "collectives/engines/closed-form.h"
#include "collectives/engines/idle-playback.h"
#include "collectives/planner-state.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace weir
{

namespace
{

/** What @p calls equal calls load together; a part of one that moves part of the time. */
std::vector<StreamLeg>
Together(std::vector<StreamLeg> legs, double calls)
{
    for (auto& leg : legs)
    {
        leg.bytes = RoundedUp(leg.bytes.ToDouble() * calls);
        leg.cap = leg.cap * calls;
        leg.weight *= calls;
    }
    return legs;
}

/** How long a call's bytes move where links carry as much as @p calls like it, by closed forms. */
Time
MovingTime(const StreamShape& shape, Routing& routing, double calls)
{
    Time time = PipelineTime(shape.pipelines, routing, calls);
    if (!shape.rings.empty())
    {
        const auto legs = Together(shape.legs, calls);
        const AloneRates rates(legs, routing);
        time = std::max(time, RingsTime(shape.rings, rates, calls));
    }
    return time;
}

/**
 * How long a call whose chunks cross levels takes, latency and all, where links carry as much as
 * @p calls like it. What a chunk waits for is the slowest of the level before, where levels share
 * links unequally, not the sum of loads that the closed form counts, so its first passes are
 * played.
 * @param wire what the bytes of one take the slowest link
 * @return nothing where too much would have to be played
 */
std::optional<Time>
PlayedTime(const IdlePlayback& playback, uint32_t levels, Time wire, double calls)
{
    const auto time = playback.DurationByFirstPasses(levels, wire * calls, calls);
    if (!time || time->IsInfinite())
    {
        return std::nullopt;
    }
    return std::max(playback.StartLatency() + *time, wire * calls);
}

/**
 * Legs are one flow that moves all the time. Chunks wait for each other, so that a call takes
 * longer alone, T, than its legs would, w. What of it passes before the legs begin, the rest being
 * spread over their bytes, shows beside a second call like it. That one is on a link for the part
 * w / T of the time, so that chunks find 1 + w / T calls on the average, which take T(1 + w / T).
 * Legs that begin after d and share take d + w(2), w(2) being both calls' bytes. So d is the
 * difference, never so long that the legs have not the time that they take alone.
 *
 * @param beside T(1 + w / T)
 * @return d, and sets the legs' caps
 */
Time
Pace(StreamShape& shape, Routing& routing, Time alone, Time beside, Time wire)
{
    const Time shared = AloneTime(Together(shape.legs, 2), routing);
    const Time most = alone - wire;
    const Time before = std::min(std::max(Time(), beside - shared), most);
    if (before < most)
    {
        const double seconds = (alone - before).ToSeconds();
        for (auto& leg : shape.legs)
        {
            const Rate pace = Rate::BytesPerSecond(leg.bytes.ToDouble() / seconds);
            leg.cap = std::min(leg.cap, pace);
        }
    }
    return before;
}

/**
 * From the end of a call to that of one like it that follows, by the plan of one: never less than
 * the time of its bytes on the slowest link.
 */
Time
PeriodOf(const StreamShape& shape, Routing& routing, const CollectivePlan& plan)
{
    constexpr uint32_t CALLS = 20; // back to back, as benchmarks have them (nccl-tests' default)
    if (!shape.row)
    {
        return plan.duration;
    }
    const Time period = PeriodOf(*shape.row, AloneRates(shape.legs, routing), CALLS);
    return std::min(std::max(period, plan.wire), plan.duration);
}

} // namespace

Planner::Planner(const Cluster& cluster, Routing& routing, NcclSettings settings)
    : m_state(std::make_unique<State>(cluster, routing, std::move(settings)))
{
    if (m_state->settings.queuePairs == 0)
    {
        throw std::invalid_argument("a network connection of 0 queue pairs, expected 1 or more");
    }
}

Planner::~Planner() = default;

CommunicatorId
Planner::AddCommunicator(const std::vector<GpuId>& gpus)
{
    auto& state = *m_state;
    if (const auto it = state.ids.find(gpus); it != state.ids.end())
    {
        return it->second;
    }
    if (gpus.empty())
    {
        throw std::invalid_argument("a communicator of no GPUs");
    }
    std::set<GpuId> seen;
    std::unordered_map<uint32_t, uint32_t> perNode;
    auto group = std::make_unique<Group>();
    for (GpuId gpu : gpus)
    {
        if (!gpu.IsValid() || gpu.Index() >= state.cluster.GpuCount())
        {
            throw std::invalid_argument("a communicator with GPU " + std::to_string(gpu.Index()) +
                                        " of a cluster of " +
                                        std::to_string(state.cluster.GpuCount()));
        }
        if (!seen.insert(gpu).second)
        {
            throw std::invalid_argument("a communicator with GPU " + std::to_string(gpu.Index()) +
                                        " twice");
        }
        uint32_t& here = ++perNode[state.cluster.NodeOf(gpu)];
        group->communicator.gpusPerNode = std::max(group->communicator.gpusPerNode, here);
    }
    group->communicator.gpus = gpus;
    group->communicator.nodes = static_cast<uint32_t>(perNode.size());
    const CommunicatorId id(state.groups.size());
    state.groups.push_back(std::move(group));
    state.ids.emplace(gpus, id);
    return id;
}

const Communicator&
Planner::GetCommunicator(CommunicatorId id)
{
    Communicator& communicator = m_state->BuiltWithTrees(id);
    const auto channels = static_cast<uint32_t>(communicator.channels.size());
    m_state->ConnectRings(id, channels);
    m_state->builder.ConnectTrees(communicator, id.Index(), channels);
    return communicator;
}

TrafficId
Planner::AddTraffic(const std::vector<std::vector<Bytes>>& parts)
{
    auto& traffics = m_state->traffics;
    auto traffic = std::make_unique<Traffic>(parts);
    const auto same = std::find_if(
        traffics.begin(), traffics.end(), [&](const auto& other) { return *other == *traffic; });
    const TrafficId id(same - traffics.begin());
    if (same == traffics.end())
    {
        traffics.push_back(std::move(traffic));
    }
    return id;
}

void
Planner::AddProgram(ImportedProgram program)
{
    if (const auto fault = CheckImportedProgram(program); !fault.empty())
    {
        throw std::invalid_argument(fault);
    }
    m_state->programs.push_back(std::move(program));
}

const Traffic&
Planner::GetTraffic(TrafficId id) const
{
    return m_state->TrafficOf(id);
}

const CollectivePlan&
Planner::Plan(const CollectiveCall& call)
{
    auto& state = *m_state;
    if (const auto it = state.plans.find(call); it != state.plans.end())
    {
        return *it->second;
    }
    const Communicator& communicator = state.BuiltFor(call);
    state.Check(call, communicator);
    const CollectiveCall decided = WithTunerRule(call, state.settings.tuner, communicator);
    const NcclChoice choice = state.Choose(decided, communicator);
    const CollectiveAlgorithm& algorithm = *choice.algorithm;
    const AlgorithmInputs inputs = state.DecidedInputsOf(decided, choice);
    auto plan = std::make_unique<CollectivePlan>();
    plan->call = call;
    plan->algorithm = algorithm.algorithm;
    plan->protocol = inputs.protocol;
    plan->channels = inputs.channels;
    if (call.bytes > Bytes() && inputs.communicator.Size() > 1)
    {
        StreamShape shape = StreamsOf(algorithm, inputs);
        const AloneRates::Slowest wire = AloneRates(shape.legs, state.routing).SlowestLeg();
        std::optional<IdlePlayback> playback;
        if (shape.steps)
        {
            playback.emplace(*shape.steps, communicator.Size(), *this);
        }
        else if (state.playsFirstPasses && shape.levels > 0)
        {
            playback.emplace(ScheduleOf(algorithm, inputs), communicator.Size(), *this);
        }
        const auto movingTime = [&](double calls) {
            const Time time = MovingTime(shape, state.routing, calls);
            return shape.steps ? std::max(time, playback->Duration(calls)) : time;
        };
        const auto playedTime = [&](double calls) {
            return playback && shape.levels > 0
                       ? PlayedTime(*playback, shape.levels, wire.time, calls)
                       : std::nullopt;
        };
        Time moving;
        if (const auto alone = playedTime(1))
        {
            // Of the latency that remains which bytes do not hide.
            shape.latency = std::min(shape.latency, *alone - wire.time);
            moving = *alone - shape.latency;
        }
        else
        {
            moving = std::max({wire.time, shape.moving, movingTime(1)});
        }
        plan->duration = shape.latency + moving;
        plan->wire = wire.time;
        plan->latency = shape.latency;
        if (moving > wire.time)
        {
            const double calls = 1 + std::min(1.0, wire.time / moving);
            const auto played = playedTime(calls);
            const Time beside =
                std::max(shape.movingBeside, played ? *played - shape.latency : movingTime(calls));
            plan->latency += Pace(shape, state.routing, moving, beside, wire.time);
        }
        plan->period = PeriodOf(shape, state.routing, *plan);
        plan->blocks = shape.blocks > 0 ? shape.blocks : inputs.channels;
        plan->bottleneck = wire.bottleneck;
        plan->legs = std::move(shape.legs);
    }
    return *state.plans.emplace(call, std::move(plan)).first->second;
}

void
Planner::KeepToClosedForms()
{
    m_state->playsFirstPasses = false;
}

std::vector<ChoiceEstimate>
Planner::Estimates(const CollectiveCall& call)
{
    auto& state = *m_state;
    const Communicator& communicator = state.BuiltFor(call);
    state.Check(call, communicator);
    const CollectiveCall decided = WithTunerRule(call, state.settings.tuner, communicator);
    const auto candidates = FindAlgorithms(decided.op, communicator, decided.overrides.algorithm);
    std::vector<ChoiceEstimate> estimates;
    for (const auto& each :
         NcclEstimates(state.constants, communicator, decided, candidates, state.settings.filter))
    {
        estimates.push_back({each.algorithm->algorithm, each.protocol, each.time});
    }
    return estimates;
}

const Schedule&
Planner::GetSchedule(const CollectiveCall& call)
{
    auto& state = *m_state;
    if (const auto it = state.schedules.find(call); it != state.schedules.end())
    {
        return *it->second;
    }
    auto schedule = std::make_unique<Schedule>(MakeSchedule(call));
    return *state.schedules.emplace(call, std::move(schedule)).first->second;
}

Schedule
Planner::MakeSchedule(const CollectiveCall& call)
{
    auto& state = *m_state;
    const Communicator& communicator = state.BuiltFor(call);
    state.Check(call, communicator);
    const CollectiveCall decided = WithTunerRule(call, state.settings.tuner, communicator);
    const NcclChoice choice = state.Choose(decided, communicator);
    const CollectiveAlgorithm& algorithm = *choice.algorithm;
    const AlgorithmInputs inputs = state.DecidedInputsOf(decided, choice);
    if (call.bytes > Bytes() && inputs.communicator.Size() > 1)
    {
        return ScheduleOf(algorithm, inputs);
    }
    Schedule schedule;
    schedule.op = call.op;
    schedule.algorithm = algorithm.algorithm;
    schedule.protocol = inputs.protocol;
    return schedule;
}

Routing&
Planner::GetRouting()
{
    return m_state->routing;
}

const NcclSettings&
Planner::GetSettings() const
{
    return m_state->settings;
}

const Cluster&
Planner::GetCluster() const
{
    return m_state->cluster;
}

} // namespace weir
