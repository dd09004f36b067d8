// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-chain-paths.h"

#include <algorithm>
#include <stdexcept>

namespace weir
{

uint32_t
CollNetPort(const AlgorithmInputs& in, const Connection& hop, bool leaves)
{
    const Topology& topology = in.routing.GetTopology();
    for (const auto& each : in.routing.Links(hop.route))
    {
        const Link& link = topology.GetLink(each.link);
        const Device& end = topology.GetDevice(leaves ? link.from : link.to);
        if (link.kind == LinkKind::Network && end.kind == DeviceKind::Nic)
        {
            return end.index;
        }
    }
    throw std::logic_error("CollNet: a hop between nodes by no port");
}

namespace
{

/** One node's part of a ring: its ranks in order, and the ports at which the ring comes and goes.
 */
struct RingPart
{
    std::vector<uint32_t> ranks;
    uint32_t inPort{0};
    uint32_t outPort{0};
};

std::vector<RingPart>
PartsOfRing(const AlgorithmInputs& in, const RingChannel& ring)
{
    const std::size_t n = ring.order.size();
    std::size_t first = 0; // where the ring enters a node
    while (ring.hops[(first + n - 1) % n].kind != ConnectionKind::Network)
    {
        ++first;
    }
    std::vector<RingPart> parts;
    for (std::size_t i = first; i < first + n; ++i)
    {
        const Connection& before = ring.hops[(i + n - 1) % n];
        const Connection& after = ring.hops[i % n];
        if (before.kind == ConnectionKind::Network)
        {
            parts.push_back({{}, CollNetPort(in, before, false), 0});
        }
        parts.back().ranks.push_back(ring.order[i % n]);
        if (after.kind == ConnectionKind::Network)
        {
            parts.back().outPort = CollNetPort(in, after, true);
        }
    }
    return parts;
}

CollNetChains
ChannelOf(const AlgorithmInputs& in, uint32_t channel)
{
    const auto& gpus = in.communicator.gpus;
    CollNetChains found;
    std::vector<CollNetHead> heads;
    auto parts = PartsOfRing(in, in.communicator.channels[channel]);
    for (auto& part : parts)
    {
        if (part.inPort != parts.front().inPort && part.outPort == parts.front().inPort)
        {
            std::reverse(part.ranks.begin(), part.ranks.end());
            std::swap(part.inPort, part.outPort);
        }
        heads.push_back({part.ranks.front(), part.inPort});
        CollNetChain chain{part.ranks, {}, {}, heads.back()};
        for (std::size_t i = 1; i < chain.ranks.size(); ++i)
        {
            const GpuId nearer = gpus[chain.ranks[i - 1]];
            const GpuId farther = gpus[chain.ranks[i]];
            chain.fromHead.push_back(in.connector.InsideNode(nearer, farther));
            chain.toHead.push_back(in.connector.InsideNode(farther, nearer));
        }
        found.chains.push_back(std::move(chain));
    }
    found.network = FindCollNetPath(in, Algorithm::CollNetChain, heads, channel);
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
