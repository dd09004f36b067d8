// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner.h"

#include "collectives/algorithms/imported-check.h"
#include "collectives/engines/closed-form.h"
#include "collectives/planner-state.h"

#include <set>
#include <stdexcept>

namespace weir
{

Planner::Planner(const Cluster& cluster, PathTable& paths, Router& router, NcclSettings settings)
    : m_state(std::make_unique<State>(cluster, paths, router, std::move(settings)))
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
    return m_state->BuiltWithTrees(id);
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
        StreamShape shape = algorithm.streams(inputs);
        const AloneRates rates(shape.legs, state.paths);
        const AloneRates::Slowest alone = rates.SlowestLeg();
        Time longest = PipelineTime(shape.pipelines, state.paths);
        for (const auto& ring : shape.rings)
        {
            longest = std::max(longest, RingTime(ring, rates));
        }
        plan->latency = shape.latency + std::max(Time(), longest - alone.time);
        plan->duration = plan->latency + alone.time;
        plan->period = shape.call ? *shape.call + alone.time : plan->duration;
        plan->blocks = shape.blocks > 0 ? shape.blocks : inputs.channels;
        plan->bottleneck = alone.bottleneck;
        plan->legs = std::move(shape.legs);
    }
    return *state.plans.emplace(call, std::move(plan)).first->second;
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
    for (const auto& each : NcclEstimates(state.constants, communicator, decided, candidates))
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
    const Communicator& communicator = state.BuiltFor(call);
    state.Check(call, communicator);
    const CollectiveCall decided = WithTunerRule(call, state.settings.tuner, communicator);
    const NcclChoice choice = state.Choose(decided, communicator);
    const CollectiveAlgorithm& algorithm = *choice.algorithm;
    const AlgorithmInputs inputs = state.DecidedInputsOf(decided, choice);
    auto schedule = std::make_unique<Schedule>();
    schedule->op = call.op;
    schedule->algorithm = algorithm.algorithm;
    schedule->protocol = inputs.protocol;
    if (call.bytes > Bytes() && inputs.communicator.Size() > 1)
    {
        *schedule = algorithm.schedule(inputs);
    }
    return *state.schedules.emplace(call, std::move(schedule)).first->second;
}

PathTable&
Planner::Paths()
{
    return m_state->paths;
}

const Cluster&
Planner::GetCluster() const
{
    return m_state->cluster;
}

} // namespace weir
