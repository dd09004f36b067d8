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

/** Operation, size, root and traffic of a call, as in StepOp; a send/recv pair is one call. */
using SlotCall = std::tuple<CollectiveOp, Bytes, uint16_t, uint16_t>;

/** A program's use of a call. */
struct CallUse
{
    uint32_t streams{0}; //!< bits of the streams on which it is issued
    uint32_t number{0};  //!< index of the call among those of the slot
};

/** The distinct calls of a program on a group. */
using SlotCalls = std::map<SlotCall, CallUse>;

SlotCall
SlotCallOf(const StepOp& op)
{
    const bool isPair = op.kind != StepOpKind::Collective;
    return {isPair ? CollectiveOp::Send : op.collective, op.bytes, op.root, op.traffic};
}

/** By slot: the calls of @p program on its group there. */
std::vector<SlotCalls>
DistinctCalls(const StepProgram& program)
{
    std::vector<SlotCalls> calls;
    for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        for (const StepOp& op : program.streams[stream])
        {
            if (op.kind != StepOpKind::Compute)
            {
                calls.resize(std::max(calls.size(), op.group + std::size_t{1}));
                calls[op.group][SlotCallOf(op)].streams |= 1U << stream;
            }
        }
    }
    for (SlotCalls& ofSlot : calls)
    {
        uint32_t number = 0;
        for (auto& [slotCall, use] : ofSlot)
        {
            use.number = number++;
        }
    }
    return calls;
}

/** The engine's call for @p slotCall. @param traffics by index into StepGraph::traffics */
CollectiveCall
CallOf(const SlotCall& slotCall,
       CommunicatorId communicator,
       const std::vector<TrafficId>& traffics)
{
    CollectiveCall call;
    call.communicator = communicator;
    uint16_t traffic = StepOp::EVEN;
    std::tie(call.op, call.bytes, call.root, traffic) = slotCall;
    if (traffic != StepOp::EVEN)
    {
        call.traffic = traffics.at(traffic);
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

/** What planning says of a call of a group: its uncontended time, SMs and memory share. */
using PlannedCall = std::tuple<SlotCall, Time, uint16_t, uint16_t>;

/** Sets StepOp::call of a program, whose calls are @p calls. */
void
NumberCalls(StepProgram& program, const std::vector<SlotCalls>& calls)
{
    for (auto& ops : program.streams)
    {
        for (StepOp& op : ops)
        {
            if (op.kind != StepOpKind::Compute)
            {
                op.call = calls[op.group].at(SlotCallOf(op)).number;
            }
        }
    }
}

/**
 * The calls and the local GPUs of a group within a node: the program of its first member, the slot
 * of the group there, and the local indices.
 */
using NodeGroupKey = std::tuple<uint32_t, std::size_t, std::vector<uint32_t>>;

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

} // namespace

std::vector<uint32_t>
PlanCommunication(StepGraph& graph,
                  const std::vector<CommunicatorId>& communicators,
                  const std::vector<GpuId>& gpus,
                  Planner& planner,
                  Rate memory,
                  const std::vector<TrafficId>& traffics)
{
    std::vector<std::vector<SlotCalls>> calls; // by program, then slot
    for (StepProgram& program : graph.programs)
    {
        calls.push_back(DistinctCalls(program));
        NumberCalls(program, calls.back());
    }
    const SlotCalls none;
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
        const auto localIndices =
            LocalIndicesInNode(graph.groups[group], gpus, planner.GetCluster());
        const NodeGroupKey key{graph.rankProgram[member], slot, localIndices};
        const auto alike = knownInNode.find(key);
        if (alike != knownInNode.end())
        {
            kinds.push_back(kinds[alike->second]);
            graph.loads[group] = graph.loads[alike->second];
            continue;
        }
        const auto& ofProgram = calls[graph.rankProgram[member]];
        for (const auto& [slotCall, use] : slot < ofProgram.size() ? ofProgram[slot] : none)
        {
            const CollectiveCall call = CallOf(slotCall, communicators[group], traffics);
            const CollectivePlan& plan = planner.Plan(call);
            const CallLoad load = LoadOf(plan, call, graph.groups[group].size(), memory);
            planned.push_back({slotCall, plan.duration, load.sms, load.memoryPerMille});
            graph.loads[group].push_back(load);
        }
        kinds.push_back(known.try_emplace(std::move(planned), static_cast<uint32_t>(known.size()))
                            .first->second);
        if (!localIndices.empty())
        {
            knownInNode.emplace(key, group);
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
    std::vector<std::vector<SlotCalls>> calls; // by program, then slot
    for (const StepProgram& program : graph.programs)
    {
        calls.push_back(DistinctCalls(program));
        calls.back().resize(std::max(calls.back().size(), graph.rankGroups.front().size()));
    }
    std::vector<CallClass> classes;
    const auto users = UsersOf(fold);
    for (uint32_t groupClass = 0; groupClass < users.size(); groupClass++)
    {
        const ClassUser& first = users[groupClass].front();
        for (const auto& [slotCall, use] : calls[fold.program[first.actor]][first.slot])
        {
            CallClass callClass;
            for (const ClassUser& user : users[groupClass])
            {
                const SlotCalls& own = calls[fold.program[user.actor]][user.slot];
                const auto found = own.find(slotCall);
                for (uint32_t stream = 0; stream < STREAM_COUNT; stream++)
                {
                    // A call that a user issues on several streams is on none of the class.
                    if (found != own.end() && found->second.streams == 1U << stream)
                    {
                        callClass.streams.push_back(
                            static_cast<uint32_t>(user.actor * STREAM_COUNT + stream));
                    }
                }
            }
            const uint32_t* last = fold.groups.end(groupClass);
            for (const uint32_t* group = fold.groups.begin(groupClass); group != last; group++)
            {
                callClass.calls.push_back(CallOf(slotCall, communicators[*group], traffics));
            }
            classes.push_back(std::move(callClass));
        }
    }
    return classes;
}

} // namespace weir
