// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/nvls/nvls-tree-paths.h"

#include <algorithm>

namespace weir
{

namespace
{

Connection
Between(const AlgorithmInputs& in,
        const NvlsNode& from,
        const NvlsNode& to,
        uint32_t head,
        uint32_t queuePair)
{
    const NvlsHead& out = from.heads[head];
    const NvlsHead& into = to.heads[head];
    const GpuId sender = from.gpus[out.member];
    return in.connector.BetweenNodes(
        sender, to.gpus[into.member], {out.nic, into.nic, sender}, queuePair);
}

NvlsTreePaths
PathsOfChannel(const AlgorithmInputs& in, const std::vector<NvlsNode>& nodes, uint32_t channel)
{
    const auto count = static_cast<uint32_t>(nodes.size());
    const uint32_t queuePair = in.call.communicator.Index() * in.constants.MaxChannels() + channel;
    NvlsTreePaths paths;
    paths.channels.push_back(channel);
    paths.places.resize(nodes.front().heads.size());
    for (uint32_t head = 0; head < paths.places.size(); ++head)
    {
        for (uint32_t node = 0; node < count; ++node)
        {
            NvlsTreePaths::Place place;
            place.nodes = PlaceInDoubleTree(count, node, channel % 2);
            if (place.nodes.parent != BinaryTreePlace::NONE)
            {
                const NvlsNode& parent = nodes[place.nodes.parent];
                place.toParent = Between(in, nodes[node], parent, head, queuePair);
                place.fromParent = Between(in, parent, nodes[node], head, queuePair);
            }
            paths.places[head].push_back(place);
        }
    }
    return paths;
}

bool
HaveSameLinks(const NvlsTreePaths& a, const NvlsTreePaths& b, const Routing& routing)
{
    const auto samePlace = [&routing](const NvlsTreePaths::Place& x,
                                      const NvlsTreePaths::Place& y) {
        return x.nodes.parent == y.nodes.parent &&
               routing.HaveSameLinks(x.toParent.route, y.toParent.route) &&
               routing.HaveSameLinks(x.fromParent.route, y.fromParent.route);
    };
    for (std::size_t head = 0; head < a.places.size(); ++head)
    {
        if (!std::equal(
                a.places[head].begin(), a.places[head].end(), b.places[head].begin(), samePlace))
        {
            return false;
        }
    }
    return true;
}

} // namespace

std::vector<NvlsTreePaths>
FindNvlsTreePaths(const AlgorithmInputs& inputs, const std::vector<NvlsNode>& nodes)
{
    std::vector<NvlsTreePaths> all;
    for (uint32_t channel = 0; channel < inputs.channels; ++channel)
    {
        NvlsTreePaths paths = PathsOfChannel(inputs, nodes, channel);
        const auto same = std::find_if(all.begin(), all.end(), [&](const NvlsTreePaths& each) {
            return HaveSameLinks(each, paths, inputs.routing);
        });
        if (same != all.end())
        {
            same->channels.push_back(channel);
            continue;
        }
        all.push_back(std::move(paths));
    }
    return all;
}

} // namespace weir
