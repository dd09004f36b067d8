// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-chain-ways.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

uint32_t
CollNetPort(const AlgorithmInputs& in, const Connection& hop)
{
    const Topology& topology = in.routing.GetTopology();
    for (const auto& each : in.routing.Links(hop.route))
    {
        const Link& link = topology.GetLink(each.link);
        if (link.kind == LinkKind::Network && topology.GetDevice(link.to).kind == DeviceKind::Nic)
        {
            return topology.GetDevice(link.to).index;
        }
    }
    throw std::logic_error("CollNet: a hop between nodes that enters by no port");
}

namespace
{

CollNetChains
ChannelOf(const AlgorithmInputs& in, uint32_t channel)
{
    const RingChannel& ring = in.communicator.channels[channel];
    const std::size_t n = ring.order.size();
    std::size_t first = 0; // a head's place
    while (ring.hops[(first + n - 1) % n].kind != ConnectionKind::Network)
    {
        ++first;
    }
    CollNetChains found;
    std::vector<CollNetHead> heads;
    for (std::size_t i = first; i < first + n; ++i)
    {
        const uint32_t rank = ring.order[i % n];
        const Connection& hop = ring.hops[(i + n - 1) % n];
        if (hop.kind == ConnectionKind::Network)
        {
            heads.push_back({rank, CollNetPort(in, hop)});
            found.chains.push_back({{rank}, {}, {}, heads.back()});
            continue;
        }
        CollNetChain& chain = found.chains.back();
        const GpuId before = in.communicator.gpus[chain.ranks.back()];
        chain.fromHead.push_back(hop);
        chain.toHead.push_back(in.connector.InsideNode(in.communicator.gpus[rank], before));
        chain.ranks.push_back(rank);
    }
    found.network = FindCollNetWay(in, Algorithm::CollNetChain, heads, channel);
    return found;
}

} // namespace

std::vector<CollNetChains>
FindCollNetChains(const AlgorithmInputs& in, uint32_t first, uint32_t count)
{
    const auto alike = [&in](const CollNetChains& a, const CollNetChains& b) {
        const auto same = [](const CollNetChain& x, const CollNetChain& y) {
            return x.ranks == y.ranks;
        };
        return in.routing.HaveSameLinks(a.network.route, b.network.route) &&
               std::equal(a.chains.begin(), a.chains.end(), b.chains.begin(), same);
    };
    std::vector<CollNetChains> channels;
    for (uint32_t c = first; c < first + count; ++c)
    {
        CollNetChains next = ChannelOf(in, c);
        const auto it = std::find_if(
            channels.begin(), channels.end(), [&](const auto& each) { return alike(each, next); });
        if (it != channels.end())
        {
            ++it->copies;
            continue;
        }
        channels.push_back(std::move(next));
    }
    return channels;
}

} // namespace weir
