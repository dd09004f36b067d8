// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/collnet/collnet-switch-tree.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

bool
IsSwitch(const Device& device)
{
    return device.node == Device::NO_NODE && device.kind != DeviceKind::Host;
}

/** A breadth-first search from one device over switches of the network. */
struct Search
{
    std::vector<uint32_t> distances; //!< by device
    std::vector<LinkId> links;       //!< by device: the one by which it was reached
};

Search
SearchFrom(const Topology& topology, DeviceId from)
{
    Search search{std::vector<uint32_t>(topology.DeviceCount(), UNREACHED),
                  std::vector<LinkId>(topology.DeviceCount())};
    std::vector<DeviceId> queue{from};
    search.distances[from.Index()] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
    {
        const DeviceId at = queue[i];
        if (i > 0 && !IsSwitch(topology.GetDevice(at)))
        {
            continue;
        }
        for (LinkId id : topology.LinksFrom(at))
        {
            const Link& link = topology.GetLink(id);
            uint32_t& there = search.distances[link.to.Index()];
            if (link.kind == LinkKind::Network && link.opposite.IsValid() && there == UNREACHED)
            {
                there = search.distances[at.Index()] + 1;
                search.links[link.to.Index()] = id;
                queue.push_back(link.to);
            }
        }
    }
    return search;
}

/** By device: the distance of the farthest NIC, and the sum of all. */
std::vector<std::pair<uint32_t, uint64_t>>
DistancesOf(const Topology& topology, const std::vector<DeviceId>& nics)
{
    std::vector<std::pair<uint32_t, uint64_t>> all(topology.DeviceCount(), {0, 0});
    for (DeviceId nic : nics)
    {
        const Search search = SearchFrom(topology, nic);
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            all[i].first = std::max(all[i].first, search.distances[i]);
            all[i].second += search.distances[i];
        }
    }
    return all;
}

DeviceId
ChooseRoot(const Topology& topology, const std::vector<DeviceId>& nics, uint32_t choice)
{
    const auto distances = DistancesOf(topology, nics);
    std::vector<DeviceId> best;
    for (std::size_t i = 0; i < distances.size(); ++i)
    {
        if (!IsSwitch(topology.GetDevice(DeviceId(i))) || distances[i].first == UNREACHED)
        {
            continue;
        }
        if (!best.empty() && distances[i] < distances[best.front().Index()])
        {
            best.clear();
        }
        if (best.empty() || distances[i] == distances[best.front().Index()])
        {
            best.push_back(DeviceId(i));
        }
    }
    if (best.empty())
    {
        throw std::runtime_error("no switch joins the " + std::to_string(nics.size()) +
                                 " ports of a reduction in the network");
    }
    return best[choice % best.size()];
}

} // namespace

SwitchTree
FindSwitchTree(const Topology& topology, const std::vector<DeviceId>& nics, uint32_t choice)
{
    SwitchTree tree;
    tree.root = ChooseRoot(topology, nics, choice);
    const Search search = SearchFrom(topology, tree.root);
    for (DeviceId nic : nics)
    {
        Time latency;
        std::vector<LinkId> path;
        for (DeviceId at = nic; at != tree.root;)
        {
            const LinkId down = search.links[at.Index()];
            const Link& link = topology.GetLink(down);
            tree.links.push_back(down);
            tree.links.push_back(link.opposite);
            path.push_back(link.opposite);
            latency += link.latency + topology.GetLink(link.opposite).latency;
            at = link.from;
        }
        tree.paths.push_back(std::move(path));
        tree.latency = std::max(tree.latency, latency);
    }
    std::sort(tree.links.begin(), tree.links.end());
    tree.links.erase(std::unique(tree.links.begin(), tree.links.end()), tree.links.end());
    return tree;
}

} // namespace weir
