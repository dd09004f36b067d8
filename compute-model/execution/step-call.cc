// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-call.h"

#include <map>
#include <utility>

namespace weir
{

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
            const bool isPair = op.kind != StepOpKind::Collective;
            const SlotCall ask{
                isPair ? CollectiveOp::Send : op.collective, op.bytes, op.root, op.traffic};
            seen[{op.group, ask}] |= static_cast<uint16_t>(1U << stream);
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
    CollectiveCall call;
    call.communicator = communicator;
    call.op = op.kind == StepOpKind::Collective ? op.collective : CollectiveOp::Send;
    call.bytes = op.bytes;
    call.root = op.root;
    if (op.traffic != StepOp::EVEN)
    {
        call.traffic = traffics.at(op.traffic);
    }
    return call;
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
