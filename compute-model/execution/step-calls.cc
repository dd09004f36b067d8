// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-calls.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace weir
{

namespace
{

/** A call of a program on a group, with the fields of StepOp; a send/recv pair is one call. */
struct SlotCall
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Bytes bytes;
    uint16_t root{0};
    uint16_t traffic{StepOp::EVEN};
    uint16_t streams{0}; //!< bits of the streams on which it is issued; not compared

    friend bool operator<(const SlotCall& a, const SlotCall& b)
    {
        return std::tie(a.op, a.bytes, a.root, a.traffic) <
               std::tie(b.op, b.bytes, b.root, b.traffic);
    }
};

SlotCall
SlotCallOf(const StepOp& op)
{
    const bool isPair = op.kind != StepOpKind::Collective;
    return {isPair ? CollectiveOp::Send : op.collective, op.bytes, op.root, op.traffic};
}

/** By slot: the distinct calls of @p program on its group there, in ascending order. */
std::vector<std::vector<SlotCall>>
DistinctCalls(const StepProgram& program)
{
    std::map<std::pair<uint16_t, SlotCall>, uint16_t> seen; // streams
    for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        for (const StepOp& op : program.streams[stream])
        {
            if (op.kind == StepOpKind::Compute)
            {
                continue;
            }
            seen[{op.group, SlotCallOf(op)}] |= static_cast<uint16_t>(1U << stream);
        }
    }
    std::vector<std::vector<SlotCall>> asks;
    for (const auto& [asked, streams] : seen)
    {
        asks.resize(asked.first + std::size_t{1});
        asks.back().push_back(asked.second);
        asks.back().back().streams = streams;
    }
    return asks;
}

/** The engine's call for @p ask. @param traffics by index into StepGraph::traffics */
CollectiveCall
CallOf(const SlotCall& ask, CommunicatorId communicator, const std::vector<TrafficId>& traffics)
{
    CollectiveCall call;
    call.communicator = communicator;
    call.op = ask.op;
    call.bytes = ask.bytes;
    call.root = ask.root;
    if (ask.traffic != StepOp::EVEN)
    {
        call.traffic = traffics.at(ask.traffic);
    }
    return call;
}

} // namespace

CollectiveCall
CallOf(const StepOp& op, CommunicatorId communicator, const std::vector<TrafficId>& traffics)
{
    return CallOf(SlotCallOf(op), communicator, traffics);
}

std::vector<TrafficId>
AddTraffics(const StepGraph& graph, Planner& planner)
{
    std::vector<TrafficId> traffics;
    for (const TrafficParts& parts : graph.traffics)
    {
        traffics.push_back(planner.AddTraffic(parts));
    }
    return traffics;
}

namespace
{

/** Local indices of the GPUs of a group within one node; empty for a group that spans nodes. */
std::vector<uint32_t>
LocalIndicesInNode(const std::vector<Rank>& group,
                   const std::vector<GpuId>& gpus,
                   const Cluster& cluster)
{
    const uint32_t node = cluster.NodeOf(gpus[group.front().Index()]);
    std::vector<uint32_t> localIndices;
    for (const Rank rank : group)
    {
        const GpuId gpu = gpus[rank.Index()];
        if (cluster.NodeOf(gpu) != node)
        {
            return {};
        }
        localIndices.push_back(cluster.LocalIndexOf(gpu));
    }
    return localIndices;
}

/**
 * GPU resources of one call. Each received byte passes through memory three times: the sender
 * writes it into the receive buffer, NCCL's kernel reads it with the rank's own operand, and the
 * kernel writes the result.
 */
CallLoad
LoadOf(const CollectivePlan& plan, const CollectiveCall& call, std::size_t ranks, Rate memory)
{
    constexpr double ACCESSES = 3;
    const double received =
        call.bytes.ToDouble() * BusBandwidthFactor(call.op, static_cast<uint32_t>(ranks));
    const double available = memory.ToBytesPerSecond() * plan.duration.ToSeconds();
    const double share = available > 0 ? std::min(1.0, ACCESSES * received / available) : 0;
    constexpr double PER_MILLE = 1000;
    return {static_cast<uint16_t>(plan.channels), static_cast<uint16_t>(share * PER_MILLE)};
}

/** What planning says of a call of a group. */
struct PlannedCall
{
    SlotCall ask;
    Time duration;
    CallLoad load;

    friend bool operator<(const PlannedCall& a, const PlannedCall& b)
    {
        return std::tie(a.ask, a.duration, a.load.sms, a.load.memoryPerMille) <
               std::tie(b.ask, b.duration, b.load.sms, b.load.memoryPerMille);
    }
};

/** Sets StepOp::call of a program, whose calls are @p asks. */
void
NumberCalls(StepProgram& program, const std::vector<std::vector<SlotCall>>& asks)
{
    for (auto& ops : program.streams)
    {
        for (StepOp& op : ops)
        {
            if (op.kind == StepOpKind::Compute)
            {
                continue;
            }
            const std::vector<SlotCall>& ofSlot = asks[op.group];
            const auto ask = std::lower_bound(ofSlot.begin(), ofSlot.end(), SlotCallOf(op));
            op.call = static_cast<uint32_t>(ask - ofSlot.begin());
        }
    }
}

/** The calls and the local GPUs of a group within a node. */
struct NodeGroupKey
{
    uint32_t program; //!< of its first member
    std::size_t slot; //!< slot of the group there
    std::vector<uint32_t> localIndices;

    friend bool operator<(const NodeGroupKey& a, const NodeGroupKey& b)
    {
        return std::tie(a.program, a.slot, a.localIndices) <
               std::tie(b.program, b.slot, b.localIndices);
    }
};

/** An actor in the groups of a group class, and the slot in which it has them. */
struct ClassUser
{
    uint32_t actor{0};
    std::size_t slot{0};
};

/** By group class, by ascending actor. */
std::vector<std::vector<ClassUser>>
UsersOf(const RankFold& fold)
{
    std::vector<std::vector<ClassUser>> users(fold.groups.Lists());
    for (uint32_t actor = 0; actor < fold.Actors(); actor++)
    {
        for (std::size_t slot = 0; slot < fold.slots[actor].size(); slot++)
        {
            if (fold.slots[actor][slot] != StepGraph::NO_GROUP)
            {
                users[fold.slots[actor][slot]].push_back({actor, slot});
            }
        }
    }
    return users;
}

using CallsBySlot = std::vector<std::vector<SlotCall>>;

/**
 * Appends the stream on which @p user issues @p ask to @p found, unless it issues it on several.
 */
void
AddStream(const CallsBySlot& asks,
          const ClassUser& user,
          const SlotCall& ask,
          std::vector<uint32_t>& found)
{
    uint32_t streams = 0;
    for (const SlotCall& own : asks[user.slot])
    {
        streams = own < ask || ask < own ? streams : own.streams;
    }
    for (uint32_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        if (streams == 1U << stream)
        {
            found.push_back(static_cast<uint32_t>(user.actor * STREAM_COUNT + stream));
        }
    }
}

} // namespace

std::vector<uint32_t>
PlanCommunication(StepGraph& graph,
                  const std::vector<CommunicatorId>& communicators,
                  const std::vector<GpuId>& gpus,
                  Planner& planner,
                  Rate memory,
                  const std::vector<TrafficId>& traffics)
{
    std::vector<std::vector<std::vector<SlotCall>>> asks; // by program, then slot
    for (StepProgram& program : graph.programs)
    {
        asks.push_back(DistinctCalls(program));
        NumberCalls(program, asks.back());
    }
    std::map<std::vector<PlannedCall>, uint32_t> known;
    std::map<NodeGroupKey, std::size_t> knownInNode; // a group; all nodes have the same topology
    std::vector<uint32_t> kinds;
    graph.loads.assign(graph.groups.size(), {});
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        std::vector<PlannedCall> planned;
        const uint32_t member = graph.groups[group].front().Index();
        const auto& slots = graph.rankGroups[member];
        const auto slot =
            static_cast<std::size_t>(std::find(slots.begin(), slots.end(), group) - slots.begin());
        NodeGroupKey asked{graph.rankProgram[member],
                           slot,
                           LocalIndicesInNode(graph.groups[group], gpus, planner.GetCluster())};
        const auto alike = knownInNode.find(asked);
        if (alike != knownInNode.end())
        {
            kinds.push_back(kinds[alike->second]);
            graph.loads[group] = graph.loads[alike->second];
            continue;
        }
        const auto& ofProgram = asks[asked.program];
        for (std::size_t i = 0; slot < ofProgram.size() && i < ofProgram[slot].size(); i++)
        {
            const SlotCall& ask = ofProgram[slot][i];
            const CollectiveCall call = CallOf(ask, communicators[group], traffics);
            const CollectivePlan& plan = planner.Plan(call);
            const CallLoad load = LoadOf(plan, call, graph.groups[group].size(), memory);
            planned.push_back({ask, plan.duration, load});
            graph.loads[group].push_back(load);
        }
        kinds.push_back(known.try_emplace(std::move(planned), static_cast<uint32_t>(known.size()))
                            .first->second);
        if (!asked.localIndices.empty())
        {
            knownInNode.emplace(std::move(asked), group);
        }
    }
    return kinds;
}

std::vector<CallClass>
ConcurrentCalls(const StepGraph& graph,
                const RankFold& fold,
                const std::vector<CommunicatorId>& communicators,
                const std::vector<TrafficId>& traffics)
{
    std::vector<CallsBySlot> asks; // by program
    for (const StepProgram& program : graph.programs)
    {
        asks.push_back(DistinctCalls(program));
        asks.back().resize(std::max(asks.back().size(), graph.rankGroups.front().size()));
    }
    std::vector<CallClass> classes;
    const auto users = UsersOf(fold);
    for (uint32_t groupClass = 0; groupClass < users.size(); groupClass++)
    {
        const ClassUser& first = users[groupClass].front();
        for (const SlotCall& ask : asks[fold.program[first.actor]][first.slot])
        {
            CallClass callClass;
            for (const ClassUser& user : users[groupClass])
            {
                AddStream(asks[fold.program[user.actor]], user, ask, callClass.streams);
            }
            const uint32_t* last = fold.groups.end(groupClass);
            for (const uint32_t* group = fold.groups.begin(groupClass); group != last; group++)
            {
                callClass.calls.push_back(CallOf(ask, communicators[*group], traffics));
            }
            classes.push_back(std::move(callClass));
        }
    }
    return classes;
}

} // namespace weir
