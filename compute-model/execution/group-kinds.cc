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

/** What is asked of a group: operation and bytes. */
using Ask = std::pair<CollectiveOp, Bytes>;

/** By slot: the calls that a program makes on it, each once. */
std::vector<std::vector<Ask>>
AsksOf(const StepProgram& program)
{
    std::set<std::tuple<uint16_t, CollectiveOp, Bytes>> seen;
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
            if (seen.emplace(op.group, what, op.bytes).second)
            {
                asks.resize(std::max<std::size_t>(asks.size(), op.group + std::size_t{1}));
                asks[op.group].emplace_back(what, op.bytes);
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
                  Planner& planner)
{
    std::vector<std::vector<std::vector<Ask>>> asks; // by program, then slot
    for (const StepProgram& program : graph.programs)
    {
        asks.push_back(AsksOf(program));
    }
    using Timing = std::tuple<CollectiveOp, Bytes, Time>;
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
            std::tie(call.op, call.bytes) = ofProgram[slot][i];
            timings.emplace_back(call.op, call.bytes, planner.Plan(call).duration);
        }
        kinds.push_back(known.try_emplace(std::move(timings), static_cast<uint32_t>(known.size()))
                            .first->second);
    }
    return kinds;
}

} // namespace weir
