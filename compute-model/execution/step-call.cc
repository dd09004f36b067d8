// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-call.h"

namespace weir
{

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
