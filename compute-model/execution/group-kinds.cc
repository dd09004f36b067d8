// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-kinds.h"

#include "compute-model/execution/slot-asks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir
{

std::vector<uint32_t>
PlannedGroupKinds(const StepGraph& graph,
                  const std::vector<CommunicatorId>& communicators,
                  Planner& planner,
                  const std::vector<TrafficId>& traffics)
{
    std::vector<std::vector<std::vector<SlotAsk>>> asks; // by program, then slot
    for (const StepProgram& program : graph.programs)
    {
        asks.push_back(AsksOf(program));
    }
    using Timing = std::pair<SlotAsk, Time>;
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
            const SlotAsk& ask = ofProgram[slot][i];
            const CollectiveCall call = CallOf(ask, communicators[group], traffics);
            timings.emplace_back(ask, planner.Plan(call).duration);
        }
        kinds.push_back(known.try_emplace(std::move(timings), static_cast<uint32_t>(known.size()))
                            .first->second);
    }
    return kinds;
}

} // namespace weir
