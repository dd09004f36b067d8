// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-call.h"

#include <map>
#include <utility>

namespace weir
{

namespace
{

SlotCall
SlotCallOf(const StepOp& op)
{
    const bool isPair = op.kind != StepOpKind::Collective;
    return {isPair ? CollectiveOp::Send : op.collective, op.bytes, op.root, op.traffic};
}

} // namespace

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

} // namespace weir
