// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner.h"

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/imported-check.h"
#include "collectives/channels/channel-builder.h"
#include "collectives/engines/closed-form.h"
#include "collectives/nccl/nccl-channels.h"
#include "collectives/nccl/nccl-choice.h"
#include "collectives/nccl/nccl-tuning.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace weir
{

namespace
{

/** The largest call, 2^58 bytes: what is reckoned of it, at most 16 x (LL128), fits 64 bits. */
constexpr Bytes LARGEST_CALL = Bytes::GiB(int64_t{1} << 28);

void
Mix(uint64_t& hash, uint64_t value)
{
    // splitmix64's finaliser over the running sum.
    hash += value + 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
    hash ^= hash >> 27;
}

struct CallHash
{
    std::size_t operator()(const CollectiveCall& call) const
    {
        const auto& o = call.overrides;
        uint64_t hash = static_cast<uint64_t>(call.bytes.Count());
        Mix(hash, static_cast<uint64_t>(call.communicator.Index()) << 32 | call.root);
        Mix(hash, call.traffic.IsValid() ? call.traffic.Index() + 1 : 0);
        Mix(hash,
            static_cast<uint64_t>(o.channels ? *o.channels + 1 : 0) << 24 |
                static_cast<uint64_t>(o.protocol ? static_cast<int>(*o.protocol) + 1 : 0) << 16 |
                static_cast<uint64_t>(o.algorithm ? static_cast<int>(*o.algorithm) + 1 : 0) << 8 |
                static_cast<uint64_t>(call.op));
        return hash;
    }
};

struct GroupHash
{
    std::size_t operator()(const std::vector<GpuId>& gpus) const
    {
        uint64_t hash = gpus.size();
        for (GpuId gpu : gpus)
        {
            Mix(hash, gpu.Index());
        }
        return hash;
    }
};

/** A communicator and what of it has been searched. */
struct Group
{
    Communicator communicator;
    bool built{false};    //!< channels
    bool hasTrees{false}; //!< trees and the other graphs, which only collectives look at
};

/** All links of all hops of a channel as one path. */
PathId
InternRing(const RingChannel& channel, PathTable& paths)
{
    std::vector<LinkId> links;
    for (const auto& hop : channel.hops)
    {
        for (const auto& each : paths.Links(hop.path))
        {
            links.insert(links.end(), each.multiplicity, each.link);
        }
    }
    return paths.Intern(links);
}

bool
SameHops(const RingChannel& a, const RingChannel& b)
{
    for (std::size_t i = 0; i < a.hops.size(); ++i)
    {
        if (a.hops[i].path != b.hops[i].path)
        {
            return false;
        }
    }
    return a.hops.size() == b.hops.size();
}

void
CheckTraffic(const Traffic& traffic, const CollectiveCall& call, const Communicator& communicator)
{
    if (call.op != CollectiveOp::AllToAll)
    {
        throw std::invalid_argument(std::string(ToString(call.op)) +
                                    " with traffic: only all-to-all has it");
    }
    if (traffic.Ranks() != communicator.Size() || traffic.LargestRow() != call.bytes)
    {
        throw std::invalid_argument(
            "traffic of " + std::to_string(traffic.Ranks()) + " ranks and at most " +
            std::to_string(traffic.LargestRow().Count()) + " bytes each, in a call of " +
            std::to_string(communicator.Size()) + " ranks and " +
            std::to_string(call.bytes.Count()) + " bytes");
    }
}

} // namespace

struct Planner::State
{
    State(const Cluster& aCluster, PathTable& aPaths, Router& router, NcclSettings aSettings)
        : cluster(aCluster),
          paths(aPaths),
          settings(std::move(aSettings)),
          constants(NcclVersion::Parse(settings.version),
                    aCluster.GetSpec().node.computeCapability,
                    aCluster.GetSpec().node.cpu),
          times(aCluster.GetSpec().node.computeCapability, aCluster.GetSpec().node.cpu),
          connector(aCluster, aPaths, router),
          builder(aCluster, router, connector, constants, settings.channelLimits)
    {
    }

    Communicator& Built(CommunicatorId id);
    Communicator& BuiltFor(const CollectiveCall& call);
    Communicator& BuiltWithTrees(CommunicatorId id);
    const Traffic& TrafficOf(TrafficId id) const;
    void Check(const CollectiveCall& call, const Communicator& communicator) const;
    NcclChoice Choose(const CollectiveCall& call, const Communicator& communicator);
    AlgorithmInputs InputsOf(const CollectiveCall& call, const NcclChoice& choice);

    const Cluster& cluster;
    PathTable& paths;
    const NcclSettings settings;
    NcclConstants constants;
    KernelTimes times;
    Connector connector;
    ChannelBuilder builder;
    std::vector<std::unique_ptr<Group>> groups; //!< by CommunicatorId
    std::unordered_map<std::vector<GpuId>, CommunicatorId, GroupHash> ids;
    std::vector<std::unique_ptr<Traffic>> traffics; //!< by TrafficId
    std::vector<ImportedProgram> programs;
    std::unordered_map<CollectiveCall, std::unique_ptr<CollectivePlan>, CallHash> plans;
    std::unordered_map<CollectiveCall, std::unique_ptr<Schedule>, CallHash> schedules;
};

Communicator&
Planner::State::Built(CommunicatorId id)
{
    if (!id.IsValid() || id.Index() >= groups.size())
    {
        throw std::invalid_argument("Planner: no such communicator");
    }
    Group& group = *groups[id.Index()];
    Communicator& communicator = group.communicator;
    if (!group.built)
    {
        builder.Build(communicator, id.Index());
        for (std::size_t c = 0; c < communicator.channels.size(); ++c)
        {
            const auto& channel = communicator.channels[c];
            const bool asBefore = c > 0 && SameHops(channel, communicator.channels[c - 1]);
            communicator.ringPaths.push_back(asBefore ? communicator.ringPaths.back()
                                                      : InternRing(channel, paths));
        }
        communicator.ll128 = AllowsLl128(constants, communicator, paths);
        group.built = true;
    }
    return communicator;
}

/** With everything that plans of @p call look at. */
Communicator&
Planner::State::BuiltFor(const CollectiveCall& call)
{
    return IsPointToPoint(call.op) ? Built(call.communicator) : BuiltWithTrees(call.communicator);
}

Communicator&
Planner::State::BuiltWithTrees(CommunicatorId id)
{
    Communicator& communicator = Built(id);
    Group& group = *groups[id.Index()];
    if (!group.hasTrees)
    {
        builder.BuildTrees(communicator, id.Index());
        group.hasTrees = true;
    }
    return communicator;
}

const Traffic&
Planner::State::TrafficOf(TrafficId id) const
{
    if (!id.IsValid() || id.Index() >= traffics.size())
    {
        throw std::invalid_argument("Planner: no such traffic");
    }
    return *traffics[id.Index()];
}

void
Planner::State::Check(const CollectiveCall& call, const Communicator& communicator) const
{
    if (call.bytes < Bytes())
    {
        throw std::invalid_argument(
            "a collective of negative size: " + std::to_string(call.bytes.Count()) + " bytes");
    }
    if (call.bytes > LARGEST_CALL)
    {
        throw std::invalid_argument("a collective of " + std::to_string(call.bytes.Count()) +
                                    " bytes, expected at most 2^58");
    }
    if (call.root >= communicator.Size())
    {
        throw std::invalid_argument("root " + std::to_string(call.root) + " is not one of the " +
                                    std::to_string(communicator.Size()) + " ranks of the group");
    }
    if (call.op == CollectiveOp::Send && communicator.Size() < 2)
    {
        throw std::invalid_argument("send needs a group of two ranks, found 1");
    }
    if (call.traffic.IsValid())
    {
        CheckTraffic(TrafficOf(call.traffic), call, communicator);
    }
}

AlgorithmInputs
Planner::State::InputsOf(const CollectiveCall& call, const NcclChoice& choice)
{
    return {Built(call.communicator),
            call,
            choice.protocol,
            choice.channels,
            constants,
            times,
            paths,
            connector,
            settings,
            call.traffic.IsValid() ? &TrafficOf(call.traffic) : nullptr,
            &programs};
}

NcclChoice
Planner::State::Choose(const CollectiveCall& call, const Communicator& communicator)
{
    const auto candidates = FindAlgorithms(call.op, communicator, call.overrides.algorithm);
    const bool own = candidates.front()->choose != nullptr;
    NcclChoice choice = own ? NcclChoice{candidates.front()}
                            : ChooseAsNccl(constants, communicator, call, candidates);
    if (own)
    {
        AlgorithmInputs inputs = InputsOf(call, choice);
        choice.algorithm->choose(inputs);
        choice.protocol = inputs.protocol;
        choice.channels = inputs.channels;
    }
    const uint32_t most = choice.algorithm->maxChannels(InputsOf(call, choice));
    if (!own)
    {
        const KernelWidth width = NcclKernelWidth(constants,
                                                  communicator,
                                                  choice.algorithm->algorithm,
                                                  call.op,
                                                  choice.protocol,
                                                  call.bytes,
                                                  most);
        choice.channels = call.overrides.channels.value_or(width.channels);
    }
    if (choice.channels == 0 || choice.channels > most)
    {
        throw std::invalid_argument(std::to_string(choice.channels) + " channels for " +
                                    ToString(call.op) + ": this group has 1 to " +
                                    std::to_string(most));
    }
    return choice;
}

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
    const AlgorithmInputs inputs = state.InputsOf(decided, choice);
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
    const AlgorithmInputs inputs = state.InputsOf(decided, choice);
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
