// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-kinds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace weir
{

namespace
{

/** What is asked of a group: operation, bytes, root, and unequal parts by their index. */
using Ask = std::tuple<CollectiveOp, Bytes, uint32_t, uint16_t>;

/** By slot: the calls that a program makes on it, each once. */
std::vector<std::vector<Ask>>
AsksOf(const StepProgram& program)
{
    std::set<std::pair<uint16_t, Ask>> seen;
    std::vector<std::vector<Ask>> asks;
    for (const auto& ops : program.streams)
    {
        for (const StepOp& op : ops)
        {
            if (op.kind == StepOpKind::Compute)
            {
                continue;
            }
            const CollectiveOp what =
                op.kind == StepOpKind::Collective ? op.collective : CollectiveOp::Send;
            const Ask ask(what, op.bytes, op.root, op.traffic);
            if (seen.emplace(op.group, ask).second)
            {
                asks.resize(std::max<std::size_t>(asks.size(), op.group + std::size_t{1}));
                asks[op.group].push_back(ask);
            }
        }
    }
    for (auto& ofSlot : asks)
    {
        std::sort(ofSlot.begin(), ofSlot.end());
    }
    return asks;
}

} // namespace

std::vector<uint32_t>
PlannedGroupKinds(const StepGraph& graph,
                  const std::vector<CommunicatorId>& communicators,
                  Planner& planner,
                  const std::vector<TrafficId>& traffics,
                  const std::vector<CrowdedCall>& crowded)
{
    std::map<const CollectivePlan*, Time> longer;
    for (const CrowdedCall& call : crowded)
    {
        Time& duration = longer[&planner.Plan(call.call)];
        duration = std::max(duration, call.duration);
    }
    std::vector<std::vector<std::vector<Ask>>> asks; // by program, then slot
    for (const StepProgram& program : graph.programs)
    {
        asks.push_back(AsksOf(program));
    }
    using Timing = std::pair<Ask, Time>;
    std::map<std::vector<Timing>, uint32_t> known;
    std::vector<uint32_t> kinds;
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        std::vector<Timing> timings;
        const uint32_t member = graph.groups[group].front().Index();
        const auto& slots = graph.rankGroups[member];
        const auto slot =
            static_cast<std::size_t>(std::find(slots.begin(), slots.end(), group) - slots.begin());
        const auto& ofProgram = asks[graph.rankProgram[member]];
        for (std::size_t i = 0; slot < ofProgram.size() && i < ofProgram[slot].size(); i++)
        {
            CollectiveCall call;
            call.communicator = communicators[group];
            uint16_t traffic = StepOp::EVEN;
            std::tie(call.op, call.bytes, call.root, traffic) = ofProgram[slot][i];
            if (traffic != StepOp::EVEN)
            {
                call.traffic = traffics.at(traffic);
            }
            const CollectivePlan& plan = planner.Plan(call);
            const auto found = longer.find(&plan);
            timings.emplace_back(ofProgram[slot][i],
                                 found == longer.end() ? plan.duration : found->second);
        }
        kinds.push_back(known.try_emplace(std::move(timings), static_cast<uint32_t>(known.size()))
                            .first->second);
    }
    return kinds;
}

} // namespace weir
