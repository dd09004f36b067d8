// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-nodes-call.h"

#include "collectives/algorithms/nvls/nvls-chunking.h"
#include "collectives/engines/closed-form.h"
#include "collectives/schedule/message-split.h"

#include <algorithm>

namespace weir
{

NvlsNodesCall::NvlsNodesCall(const AlgorithmInputs& inputs)
    : nodes(NvlsNodes(inputs.communicator, inputs.connector)),
      wireFactor(MulticastWireFactor(inputs.connector.GetCluster(), inputs.times.Costs())),
      weight(wireFactor / Heads()),
      headCap(NvlsCopyRate(inputs.constants) / Heads())
{
    for (const auto& node : nodes)
    {
        groups.emplace_back(inputs.connector, inputs.routing, node.gpus);
    }
    const NodeCosts& costs = inputs.times.Costs();
    sync = NvlsSyncLatency(costs, groups.front().CrossingLatency()) +
           costs.TimeOf(NodeCostKind::NvlsNetworkSync);
}

std::vector<StreamLeg>
NvlsNodesCall::Legs(const AlgorithmInputs& inputs, double payload, bool reduction, bool store) const
{
    std::vector<StreamLeg> legs;
    for (uint32_t head = 0; head < Heads(); ++head)
    {
        std::vector<LinkId> links;
        for (std::size_t node = 0; node < nodes.size(); ++node)
        {
            const uint32_t member = nodes[node].heads[head].member;
            const auto append = [&](const std::vector<LinkId>& part) {
                links.insert(links.end(), part.begin(), part.end());
            };
            if (reduction)
            {
                append(groups[node].Reduction(member));
            }
            if (store)
            {
                append(groups[node].Store(member));
            }
        }
        const double wire = inputs.channels * wireFactor;
        legs.push_back({inputs.routing.AddFixed(links),
                        RoundedUp(payload * wire),
                        headCap * wire,
                        inputs.channels * weight});
    }
    return legs;
}

std::vector<CollNetHead>
NvlsNodesCall::HeadsAt(uint32_t head) const
{
    std::vector<CollNetHead> members;
    for (const auto& node : nodes)
    {
        const NvlsHead& each = node.heads[head];
        members.push_back({node.ranks[each.member], each.nic});
    }
    return members;
}

std::vector<StreamLeg>
NvlsLegsOf(const NvlsNodesCall& inside,
           const AlgorithmInputs& inputs,
           double payload,
           double passes)
{
    auto legs = inside.Legs(inputs, payload, true, true);
    const Time both = AloneTime(legs, inputs.routing);
    const double ratio =
        both / AloneTime(inside.Legs(inputs, payload, false, true), inputs.routing);
    const double longer = 1 + inside.sync * (passes * std::max(0.0, 2 - ratio)) / both;
    for (auto& leg : legs)
    {
        leg.bytes = RoundedUp(leg.bytes.ToDouble() * longer);
    }
    return legs;
}

} // namespace weir
