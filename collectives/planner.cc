// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/planner.h"

#include "collectives/algorithms/algorithm.h"
#include "collectives/channels/channel-builder.h"
#include "collectives/engines/closed-form.h"
#include "collectives/engines/idle-playback.h"
#include "collectives/engines/pipeline-time.h"
#include "collectives/nccl/nccl-tuning.h"
#include "collectives/schedule/message-split.h"
#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace weir
{

struct CallHash
{
    std::size_t operator()(const CollectiveCall& call) const
    {
        const auto& o = call.overrides;
        uint64_t hash = static_cast<uint64_t>(call.bytes.Count());
        hash =
            SplitMix64(hash + (static_cast<uint64_t>(call.communicator.Index()) << 32 | call.root));
        hash = SplitMix64(hash + (call.traffic.IsValid() ? call.traffic.Index() + 1 : 0));
        return SplitMix64(
            hash +
            (static_cast<uint64_t>(o.channels ? *o.channels + 1 : 0) << 24 |
             static_cast<uint64_t>(o.protocol ? static_cast<int>(*o.protocol) + 1 : 0) << 16 |
             static_cast<uint64_t>(o.algorithm ? static_cast<int>(*o.algorithm) + 1 : 0) << 8 |
             static_cast<uint64_t>(call.op)));
    }
};

struct GroupHash
{
    std::size_t operator()(const std::vector<GpuId>& gpus) const
    {
        uint64_t hash = gpus.size();
        for (GpuId gpu : gpus)
        {
            hash = SplitMix64(hash + gpu.Index());
        }
        return hash;
    }
};

/** A communicator and which parts of it have been searched. */
struct Group
{
    Communicator communicator;
    bool built{false};    //!< channels exist, connected as far as calls needed them
    bool hasTrees{false}; //!< trees and the other graphs exist; only collectives use them
};

/** The planner's inputs, and the communicators, plans and schedules that it has made so far. */
struct Planner::State
{
    State(const Cluster& aCluster, Routing& aRouting, NcclSettings aSettings)
        : cluster(aCluster),
          routing(aRouting),
          settings(std::move(aSettings)),
          constants(NcclVersion::Parse(settings.version),
                    aCluster.GetSpec().node.computeCapability,
                    aCluster.GetSpec().node.cpu,
                    BlockTimesOf(NodeCosts(aCluster.GetSpec().node))),
          times(aCluster.GetSpec().node),
          connector(aCluster,
                    aRouting,
                    settings.p2pLevel,
                    {settings.queuePairs, settings.MergedPorts(aCluster.GetSpec().node)},
                    {settings, constants, aCluster.GetSpec().node}),
          builder(aCluster, connector, constants, settings)
    {
    }

    Group& Known(CommunicatorId id);
    Communicator& Built(CommunicatorId id);
    Communicator& BuiltWithTrees(CommunicatorId id);
    void ConnectFor(const CollectiveCall& call, const NcclChoice& choice);
    const Traffic& TrafficOf(TrafficId id) const;
    void Check(const CollectiveCall& call, const Communicator& communicator) const;
    CollectiveCall Decide(const CollectiveCall& call);
    NcclChoice Choose(const CollectiveCall& call);
    AlgorithmInputs InputsOf(const CollectiveCall& call, const NcclChoice& choice);

    const Cluster& cluster;
    Routing& routing;
    const NcclSettings settings;
    NcclConstants constants;
    KernelTimes times;
    Connector connector;
    ChannelBuilder builder;
    std::vector<std::unique_ptr<Group>> groups; //!< by CommunicatorId
    std::unordered_map<std::vector<GpuId>, CommunicatorId, GroupHash> ids;
    std::vector<std::unique_ptr<Traffic>> traffics; //!< by TrafficId
    std::vector<ImportedProgram> programs;
    bool playsFirstPasses{true}; //!< see Planner::UseClosedForms
    std::unordered_map<CollectiveCall, std::unique_ptr<CollectivePlan>, CallHash> plans;
    std::unordered_map<CollectiveCall, std::unique_ptr<Schedule>, CallHash> schedules;
};

namespace
{

void
CheckTraffic(const Traffic& traffic, const CollectiveCall& call, const Communicator& communicator)
{
    if (call.op != CollectiveOp::AllToAll)
    {
        throw std::invalid_argument(std::string("found ") + ToString(call.op) +
                                    " with traffic, expected all-to-all");
    }
    if (traffic.Ranks() != communicator.Size() || traffic.LargestRow() != call.bytes)
    {
        throw std::invalid_argument(
            "found traffic of " + std::to_string(traffic.Ranks()) + " ranks and at most " +
            std::to_string(traffic.LargestRow().Count()) + " bytes per rank, expected the call's " +
            std::to_string(communicator.Size()) + " ranks and " +
            std::to_string(call.bytes.Count()) + " bytes");
    }
}

} // namespace

Group&
Planner::State::Known(CommunicatorId id)
{
    if (!id.IsValid() || id.Index() >= groups.size())
    {
        throw std::invalid_argument("Planner: no such communicator");
    }
    return *groups[id.Index()];
}

Communicator&
Planner::State::Built(CommunicatorId id)
{
    Group& group = Known(id);
    if (!group.built)
    {
        builder.Build(group.communicator, id.Index());
        group.communicator.ll128 =
            AllowsLl128(constants, group.communicator, routing, cluster.GetSpec().node);
        group.built = true;
    }
    return group.communicator;
}

/** Connects only the channels that the call uses: small calls use few of many. */
void
Planner::State::ConnectFor(const CollectiveCall& call, const NcclChoice& choice)
{
    switch (choice.algorithm->graph)
    {
    case ChannelGraph::Trees:
        builder.ConnectTrees(Built(call.communicator), call.communicator.Index(), choice.channels);
        return;
    case ChannelGraph::Rings:
        builder.Connect(Built(call.communicator), call.communicator.Index(), choice.channels);
        return;
    case ChannelGraph::None:
        return;
    }
}

Communicator&
Planner::State::BuiltWithTrees(CommunicatorId id)
{
    Communicator& communicator = Built(id);
    Group& group = *groups[id.Index()];
    if (!group.hasTrees)
    {
        builder.BuildTrees(communicator);
        if (communicator.collNetGraph.channels > 0)
        {
            // Whether CollNet Direct or Chain is possible depends on all channels.
            builder.Connect(
                communicator, id.Index(), static_cast<uint32_t>(communicator.channels.size()));
        }
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
    if (call.bytes > MAX_CALL_BYTES)
    {
        throw std::invalid_argument("found a collective of " + std::to_string(call.bytes.Count()) +
                                    " bytes, expected at most 2^58");
    }
    if (call.root >= communicator.Size())
    {
        throw std::invalid_argument("root " + std::to_string(call.root) + " is not one of the " +
                                    std::to_string(communicator.Size()) + " ranks of the group");
    }
    if (call.op == CollectiveOp::Send && communicator.Size() < 2)
    {
        throw std::invalid_argument("found send in a group of one rank, expected two");
    }
    if (call.traffic.IsValid())
    {
        CheckTraffic(TrafficOf(call.traffic), call, communicator);
    }
}

AlgorithmInputs
Planner::State::InputsOf(const CollectiveCall& call, const NcclChoice& choice)
{
    return {Known(call.communicator).communicator,
            call,
            choice.protocol,
            choice.channels,
            constants,
            times,
            routing,
            connector,
            settings,
            call.traffic.IsValid() ? &TrafficOf(call.traffic) : nullptr,
            &programs};
}

/**
 * Checks @p call and builds the graphs that its plans need. @return the call with the tuner's rule
 * applied
 */
CollectiveCall
Planner::State::Decide(const CollectiveCall& call)
{
    const Communicator& communicator =
        IsPointToPoint(call.op) ? Built(call.communicator) : BuiltWithTrees(call.communicator);
    Check(call, communicator);
    return WithTunerRule(call, settings.tuner, communicator);
}

/** The choice for a call that Decide has returned. */
NcclChoice
Planner::State::Choose(const CollectiveCall& call)
{
    const Communicator& communicator = Known(call.communicator).communicator;
    const auto candidates = FindAlgorithms(InputsOf(call, {}));
    const bool own = candidates.front()->choose != nullptr;
    NcclChoice choice =
        own ? NcclChoice{candidates.front()}
            : ChooseAsNccl(
                  NcclEstimates(constants, communicator, call, candidates, settings.filter), call);
    if (own)
    {
        AlgorithmInputs inputs = InputsOf(call, choice);
        choice.algorithm->choose(inputs);
        choice.protocol = inputs.protocol;
        choice.channels = inputs.channels;
    }
    const uint32_t max = choice.algorithm->maxChannels(InputsOf(call, choice));
    if (!own)
    {
        const KernelWidth width = NcclKernelWidth(
            {constants, communicator, choice.algorithm->algorithm, call.op, choice.protocol},
            call.bytes,
            max);
        choice.channels = call.overrides.channels.value_or(width.channels);
    }
    if (choice.channels == 0 || choice.channels > max)
    {
        throw std::invalid_argument("found " + std::to_string(choice.channels) + " channels for " +
                                    ToString(call.op) + ", expected 1 to " + std::to_string(max) +
                                    ", the channels of this group");
    }
    if (!own && call.bytes > Bytes())
    {
        // Kernels have blocks only for channels with data (NCCL's channelMask).
        const ChannelShare last = SplitOverChannels(call.bytes, choice.channels).back();
        choice.channels = last.firstChannel + last.channels;
    }
    return choice;
}

namespace
{

/** The combined legs of @p calls equal calls; a fraction is a call that moves part of the time. */
std::vector<StreamLeg>
RepeatLegs(std::vector<StreamLeg> legs, double calls)
{
    for (auto& leg : legs)
    {
        leg.bytes = RoundedUp(leg.bytes.ToDouble() * calls);
        leg.cap = leg.cap * calls;
        leg.weight *= calls;
    }
    return legs;
}

/**
 * Transfer time of a call in closed form, on links that carry @p calls concurrent copies of it.
 * @param rates of one copy
 */
Time
MovingTime(const StreamShape& shape, const UncontendedRates& rates, Routing& routing, double calls)
{
    const Time time = PipelineTime(shape.pipelines, routing, calls);
    if (shape.rings.empty())
    {
        return time;
    }
    if (calls == 1)
    {
        return std::max(time, RingsTime(shape.rings, rates, calls));
    }
    const auto legs = RepeatLegs(shape.legs, calls);
    return std::max(time, RingsTime(shape.rings, UncontendedRates(legs, routing), calls));
}

/**
 * Duration, with latency, of a call whose chunks cross levels, on links that carry @p calls
 * concurrent copies of it. Where levels share links unequally, a chunk waits for the slowest chunk
 * of the level before, not for the sum of loads that the closed form counts. So the first passes of
 * the call are played.
 * @param wire time of one call's bytes on the slowest link
 * @return nothing where too many slices would have to be played, or the call never ends
 */
std::optional<Time>
PlayedTime(const IdlePlayback& playback, uint32_t levels, Time wire, double calls)
{
    constexpr double MAX_SLICES = 0x1p19; // a few seconds' work
    const auto time = playback.Duration(calls, {levels, MAX_SLICES, wire * calls});
    if (!time || time->IsInfinite())
    {
        return std::nullopt;
    }
    return std::max(playback.StartLatency() + *time, wire * calls);
}

/**
 * Share f of the hops of rings that other jobs slow, on average; 1 where no hop crosses contended
 * links.
 *
 * A step of a ring waits for the previous step on its own hop and on the hop before. So k steps of
 * n hops with latencies L(h), which chunks cross in c(h), take k times the largest mean of a cycle,
 *
 *   k max(max over h of c(h), mean over h of (L(h) + c(h)))
 *
 * (max-plus algebra; Baccelli et al., Synchronization and Linearity, 1992). If contention raises
 * the time of the legs from w to w', the first term is w' and the second T + f (w' - w): waiting
 * for latencies hides what a few slow hops take longer. The slow hops are those over contended
 * links; where switches route by hash, the share UncontendedRates::Evenness of these.
 */
double
SlowedShare(const StreamShape& shape, const UncontendedRates& rates)
{
    double hops = 0;
    double contended = 0;
    for (const RingRounds& ring : shape.rings)
    {
        hops += ring.weight * static_cast<double>(ring.hops.size());
        for (const RingRounds::Hop& hop : ring.hops)
        {
            contended += rates.IsContended(hop.route) ? ring.weight : 0;
        }
    }
    return contended > 0 ? rates.Evenness() * contended / hops : 1;
}

/**
 * Paces the legs of a call. A leg is one flow that moves all the time, but the chunks of a call
 * wait for each other. So the uncontended call takes a time T that is longer than the time w of its
 * legs. T - w is split into a delay d before the legs start and a lower rate cap of the legs. The
 * time of two concurrent copies of the call decides d. Each copy occupies a link for the fraction w
 * / T of the time, so chunks find 1 + w / T calls on average, which take T(1 + w / T). Legs that
 * start after d and share their links take d + w(2), where w(2) is the time of both calls' bytes.
 * So d = T(1 + w / T) - w(2), limited to 0 <= d <= s (T - w). Others slow the share f of the hops
 * (SlowedShare), copies on the same GPUs all of them, for w / T of the time: s = max(f, w / T).
 *
 * @param uncontended T
 * @param beside T(1 + w / T)
 * @param wire w
 * @param slowed f
 * @return d; the caps of the legs are set
 */
Time
Pace(StreamShape& shape, Routing& routing, Time uncontended, Time beside, Time wire, double slowed)
{
    const Time shared = UncontendedTime(RepeatLegs(shape.legs, 2), routing);
    const Time max = uncontended - wire;
    const double share = std::max(slowed, wire / uncontended);
    const Time before = std::min(std::max(Time(), beside - shared), max * share);
    if (before < max)
    {
        const double seconds = (uncontended - before).ToSeconds();
        for (auto& leg : shape.legs)
        {
            const Rate pace = Rate::BytesPerSecond(leg.bytes.ToDouble() / seconds);
            leg.cap = std::min(leg.cap, pace);
        }
    }
    return before;
}

/**
 * Divides the latency of a plan into parts before, between and after its flows. Where all hops are
 * busy from the start on, it is after them, except for @p start, the part before the first byte
 * moves. Pipelines load their hops one after the other; a flow over all of them is in the middle of
 * fill and drain.
 */
void
FillPipelines(const StreamShape& shape,
              const UncontendedRates& rates,
              Routing& routing,
              Time start,
              CollectivePlan& plan)
{
    plan.drain = (plan.latency - start) * (shape.path.empty() ? 1 : 0.5);
    plan.pipelines = CutPipelines(
        shape.pipelines,
        {start, shape.latency - start, plan.latency - shape.latency, plan.duration - plan.latency},
        shape.chunks,
        rates,
        routing);
    for (StreamPipeline& pipeline : plan.pipelines)
    {
        pipeline.weight *= shape.activeShare;
    }
}

/** Gives legs the weight that they have on heavily loaded links of the network. */
void
WeightByContention(StreamShape& shape, const UncontendedRates& rates)
{
    const double share = ContendedShare(rates, shape.path, shape.chunks);
    for (StreamLeg& leg : shape.legs)
    {
        const bool isSlowed = share < 1 && rates.IsContended(leg.route);
        leg.weight *= shape.activeShare * (isSlowed ? share : 1);
    }
}

/**
 * Period of back-to-back calls: from the end of a call to the end of the next, equal one. It is
 * never less than the time of one call's bytes on the slowest link.
 */
Time
PeriodOf(const StreamShape& shape, Routing& routing, const CollectivePlan& plan)
{
    if (!shape.backToBack)
    {
        return plan.duration;
    }
    const Time period =
        PeriodOf(*shape.backToBack, UncontendedRates(shape.legs, routing), BENCHMARK_CALLS);
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
    if (const uint32_t stripes = m_state->connector.Stripes(); stripes > MAX_STRIPES)
    {
        throw std::invalid_argument("a network connection of " + std::to_string(stripes) +
                                    " queue pairs on all ports of its NIC, expected at most " +
                                    std::to_string(MAX_STRIPES));
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
    group->communicator.members.resize(state.cluster.GpuCount());
    for (const GpuId gpu : gpus)
    {
        group->communicator.members[gpu.Index()] = true;
    }
    group->communicator.nodes = static_cast<uint32_t>(perNode.size());
    const CommunicatorId id(state.groups.size());
    state.groups.push_back(std::move(group));
    state.ids.emplace(gpus, id);
    return id;
}

const Communicator&
Planner::GetGroup(CommunicatorId id)
{
    return m_state->Known(id).communicator;
}

const Communicator&
Planner::GetCommunicator(CommunicatorId id)
{
    Communicator& communicator = m_state->BuiltWithTrees(id);
    const auto channels = static_cast<uint32_t>(communicator.channels.size());
    m_state->builder.Connect(communicator, id.Index(), channels);
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

const CollectivePlan&
Planner::Plan(const CollectiveCall& call)
{
    auto& state = *m_state;
    if (const auto it = state.plans.find(call); it != state.plans.end())
    {
        return *it->second;
    }
    const CollectiveCall decided = state.Decide(call);
    const NcclChoice choice = state.Choose(decided);
    const CollectiveAlgorithm& algorithm = *choice.algorithm;
    state.ConnectFor(decided, choice);
    const AlgorithmInputs inputs = state.InputsOf(decided, choice);
    auto plan = std::make_unique<CollectivePlan>();
    plan->call = call;
    plan->algorithm = algorithm.algorithm;
    plan->protocol = inputs.protocol;
    plan->channels = inputs.channels;
    if (call.bytes > Bytes() && inputs.communicator.Size() > 1)
    {
        StreamShape shape = StreamsOf(algorithm, inputs);
        const UncontendedRates rates(shape.legs, state.routing);
        const UncontendedRates::Slowest wire = rates.SlowestLeg();
        std::optional<IdlePlayback> playback;
        if (shape.steps)
        {
            playback.emplace(*shape.steps, inputs.communicator.Size(), *this);
        }
        else if (state.playsFirstPasses && shape.levels > 0)
        {
            playback.emplace(ScheduleOf(algorithm, inputs), inputs.communicator.Size(), *this);
        }
        const auto movingTime = [&](double calls) {
            const Time time = MovingTime(shape, rates, state.routing, calls);
            return shape.steps ? std::max(time, playback->Duration(calls)) : time;
        };
        const auto playedTime = [&](double calls) {
            return playback && shape.levels > 0
                       ? PlayedTime(*playback, shape.levels, wire.time, calls)
                       : std::nullopt;
        };
        Time moving;
        if (const auto uncontended = playedTime(1))
        {
            // The part of the latency that the transfer does not hide.
            shape.latency = std::min(shape.latency, *uncontended - wire.time);
            moving = *uncontended - shape.latency;
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
            const Time beside = std::max(shape.movingConcurrent,
                                         played ? *played - shape.latency : movingTime(calls));
            const double slowed = SlowedShare(shape, rates);
            plan->latency += Pace(shape, state.routing, moving, beside, wire.time, slowed);
        }
        plan->period = PeriodOf(shape, state.routing, *plan);
        const Time start = std::min(shape.latency, CallLatency(inputs, algorithm.algorithm));
        FillPipelines(shape, rates, state.routing, start, *plan);
        WeightByContention(shape, rates);
        plan->blocks = shape.blocks > 0 ? shape.blocks : inputs.channels;
        plan->bottleneck = wire.bottleneck;
        plan->isInLockstep = shape.isInLockstep;
        plan->legs = std::move(shape.legs);
    }
    return *state.plans.emplace(call, std::move(plan)).first->second;
}

void
Planner::UseClosedForms()
{
    m_state->playsFirstPasses = false;
}

std::vector<ChoiceEstimate>
Planner::Estimates(const CollectiveCall& call)
{
    auto& state = *m_state;
    const CollectiveCall decided = state.Decide(call);
    const Communicator& communicator = state.Known(call.communicator).communicator;
    const auto candidates = FindAlgorithms(state.InputsOf(decided, {}));
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
    const CollectiveCall decided = state.Decide(call);
    const NcclChoice choice = state.Choose(decided);
    const CollectiveAlgorithm& algorithm = *choice.algorithm;
    state.ConnectFor(decided, choice);
    const AlgorithmInputs inputs = state.InputsOf(decided, choice);
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
