// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/group-kinds.h"

#include "compute-model/execution/slot-asks.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace weir
{

namespace
{

/** The places in their node of GPUs that lie within one; nothing of GPUs of several. */
std::vector<uint32_t>
PlacesInNode(const std::vector<Rank>& group, const std::vector<GpuId>& gpus, const Cluster& cluster)
{
    const uint32_t node = cluster.NodeOf(gpus[group.front().Index()]);
    std::vector<uint32_t> places;
    for (const Rank rank : group)
    {
        const GpuId gpu = gpus[rank.Index()];
        if (cluster.NodeOf(gpu) != node)
        {
            return {};
        }
        places.push_back(cluster.LocalIndexOf(gpu));
    }
    return places;
}

/** What is asked of a group within a node, and of which GPUs there. */
struct AskedInNode
{
    uint32_t program; //!< of its first member
    std::size_t slot; //!< that the group has there
    std::vector<uint32_t> places;

    friend bool operator<(const AskedInNode& a, const AskedInNode& b)
    {
        return std::tie(a.program, a.slot, a.places) < std::tie(b.program, b.slot, b.places);
    }
};

} // namespace

std::vector<uint32_t>
PlannedGroupKinds(const StepGraph& graph,
                  const std::vector<CommunicatorId>& communicators,
                  const std::vector<GpuId>& gpus,
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
    std::map<AskedInNode, uint32_t> knownInNode; // nodes are wired alike
    std::vector<uint32_t> kinds;
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        std::vector<Timing> timings;
        const uint32_t member = graph.groups[group].front().Index();
        const auto& slots = graph.rankGroups[member];
        const auto slot =
            static_cast<std::size_t>(std::find(slots.begin(), slots.end(), group) - slots.begin());
        AskedInNode asked{graph.rankProgram[member],
                          slot,
                          PlacesInNode(graph.groups[group], gpus, planner.GetCluster())};
        const auto alike = knownInNode.find(asked);
        if (alike != knownInNode.end())
        {
            kinds.push_back(alike->second);
            continue;
        }
        const auto& ofProgram = asks[asked.program];
        for (std::size_t i = 0; slot < ofProgram.size() && i < ofProgram[slot].size(); i++)
        {
            const SlotAsk& ask = ofProgram[slot][i];
            const CollectiveCall call = CallOf(ask, communicators[group], traffics);
            timings.emplace_back(ask, planner.Plan(call).duration);
        }
        kinds.push_back(known.try_emplace(std::move(timings), static_cast<uint32_t>(known.size()))
                            .first->second);
        if (!asked.places.empty())
        {
            knownInNode.emplace(std::move(asked), kinds.back());
        }
    }
    return kinds;
}

} // namespace weir
