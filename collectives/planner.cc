// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner.h"

#include "collectives/algorithm.h"
#include "collectives/channel-builder.h"
#include "collectives/closed-form.h"
#include "collectives/nccl-tuning.h"

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

/** A communicator and whether its channels have been searched. */
struct Group
{
    Communicator communicator;
    bool built{false};
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

/** The longest fill: the sum over its hops of slice / rate, without the slowest hop. */
Time
FillTime(const std::vector<Fill>& fills, const AloneRates& rates)
{
    Time longest;
    for (const auto& fill : fills)
    {
        Time sum;
        Time slowest;
        for (PathId hop : fill.hops)
        {
            const Time crossing = fill.slice / rates.ShareOn(hop, fill.cap).rate;
            sum += crossing;
            slowest = std::max(slowest, crossing);
        }
        longest = std::max(longest, sum - slowest);
    }
    return longest;
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

} // namespace

struct Planner::State
{
    State(const Cluster& aCluster, PathTable& aPaths, Router& router, const std::string& version)
        : cluster(aCluster),
          paths(aPaths),
          constants(NcclVersion::Parse(version),
                    aCluster.GetSpec().node.computeCapability,
                    aCluster.GetSpec().node.cpu),
          connector(aCluster, aPaths, router),
          builder(aCluster, router, connector, constants)
    {
    }

    Communicator& Built(CommunicatorId id);
    AlgorithmInputs Decide(const CollectiveCall& call, const CollectiveAlgorithm& algorithm);

    const Cluster& cluster;
    PathTable& paths;
    NcclConstants constants;
    Connector connector;
    ChannelBuilder builder;
    std::vector<std::unique_ptr<Group>> groups; //!< by CommunicatorId
    std::unordered_map<std::vector<GpuId>, CommunicatorId, GroupHash> ids;
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

AlgorithmInputs
Planner::State::Decide(const CollectiveCall& call, const CollectiveAlgorithm& algorithm)
{
    const Communicator& communicator = Built(call.communicator);
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
    if (call.op == CollectiveOp::SendRecv && communicator.Size() < 2)
    {
        throw std::invalid_argument("send-recv needs a group of two ranks, found 1");
    }
    AlgorithmInputs inputs{communicator, call, Protocol::Simple, 1, constants, paths, connector};
    algorithm.choose(inputs);
    const uint32_t most = algorithm.maxChannels(inputs);
    if (inputs.channels == 0 || inputs.channels > most)
    {
        throw std::invalid_argument(std::to_string(inputs.channels) + " channels for " +
                                    ToString(call.op) + ": this group has 1 to " +
                                    std::to_string(most));
    }
    return inputs;
}

Planner::Planner(const Cluster& cluster, PathTable& paths, Router& router, std::string ncclVersion)
    : m_state(std::make_unique<State>(cluster, paths, router, ncclVersion))
{
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
    return m_state->Built(id);
}

const CollectivePlan&
Planner::Plan(const CollectiveCall& call)
{
    auto& state = *m_state;
    if (const auto it = state.plans.find(call); it != state.plans.end())
    {
        return *it->second;
    }
    const CollectiveAlgorithm& algorithm = FindAlgorithm(call);
    const AlgorithmInputs inputs = state.Decide(call, algorithm);
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
        plan->latency = shape.latency + FillTime(shape.fills, rates);
        plan->duration = plan->latency + alone.time;
        plan->bottleneck = alone.bottleneck;
        plan->legs = std::move(shape.legs);
    }
    return *state.plans.emplace(call, std::move(plan)).first->second;
}

const Schedule&
Planner::GetSchedule(const CollectiveCall& call)
{
    auto& state = *m_state;
    if (const auto it = state.schedules.find(call); it != state.schedules.end())
    {
        return *it->second;
    }
    const CollectiveAlgorithm& algorithm = FindAlgorithm(call);
    const AlgorithmInputs inputs = state.Decide(call, algorithm);
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
