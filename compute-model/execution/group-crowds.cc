// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-crowds.h"

#include "compute-model/execution/crowd-times.h"
#include "compute-model/execution/step-call.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace weir
{

namespace
{

/** The groups that ranks of one program have in a slot, each once. */
std::vector<uint32_t>
GroupsOf(const StepGraph& graph, uint32_t program, uint16_t slot)
{
    std::vector<uint32_t> groups;
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        if (graph.rankProgram[rank] == program &&
            graph.rankGroups[rank][slot] != StepGraph::NO_GROUP)
        {
            groups.push_back(graph.rankGroups[rank][slot]);
        }
    }
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
}

/** Appends those of @p calls, made at once, that then take longer. */
void
ShareOut(const std::vector<CollectiveCall>& calls,
         Planner& planner,
         std::vector<CrowdedCall>& crowded)
{
    std::vector<const CollectivePlan*> plans;
    for (const CollectiveCall& call : calls)
    {
        plans.push_back(&planner.Plan(call));
    }
    const std::vector<Time> added = AddedTogether(plans, planner.Paths());
    for (std::size_t i = 0; i < calls.size(); i++)
    {
        if (added[i] > Time())
        {
            crowded.push_back({calls[i], plans[i]->duration + added[i]});
        }
    }
}

} // namespace

std::vector<CrowdedCall>
CrowdedCalls(const StepGraph& graph,
             const std::vector<CommunicatorId>& communicators,
             Planner& planner,
             const std::vector<TrafficId>& traffics)
{
    using Ask = std::tuple<uint16_t, CollectiveOp, Bytes, uint16_t, uint16_t>;
    std::vector<CrowdedCall> crowded;
    for (uint32_t program = 0; program < graph.programs.size(); program++)
    {
        std::set<Ask> seen;
        for (const auto& ops : graph.programs[program].streams)
        {
            for (const StepOp& op : ops)
            {
                const bool isCall =
                    op.kind == StepOpKind::Collective || op.kind == StepOpKind::Send;
                if (!isCall ||
                    !seen.emplace(op.group, op.collective, op.bytes, op.root, op.traffic).second)
                {
                    continue;
                }
                std::vector<CollectiveCall> calls;
                for (const uint32_t group : GroupsOf(graph, program, op.group))
                {
                    calls.push_back(CallOf(op, communicators[group], traffics));
                }
                if (calls.size() > 1)
                {
                    ShareOut(calls, planner, crowded);
                }
            }
        }
    }
    return crowded;
}

} // namespace weir
