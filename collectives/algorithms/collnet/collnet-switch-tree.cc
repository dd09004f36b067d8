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
    std::vector<uint32_t> distances;        //!< by device
    std::vector<std::vector<LinkId>> links; //!< by device: those of shortest paths to it
};

Search
SearchFrom(const Topology& topology, DeviceId from, const LinkFilter& isUsable)
{
    Search search{std::vector<uint32_t>(topology.DeviceCount(), UNREACHED),
                  std::vector<std::vector<LinkId>>(topology.DeviceCount())};
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
            if (link.kind != LinkKind::Network || !link.opposite.IsValid() || !isUsable(id) ||
                !isUsable(link.opposite))
            {
                continue;
            }
            const uint32_t distance = search.distances[at.Index()] + 1;
            uint32_t& there = search.distances[link.to.Index()];
            if (there == UNREACHED)
            {
                there = distance;
                queue.push_back(link.to);
            }
            if (there == distance)
            {
                search.links[link.to.Index()].push_back(id);
            }
        }
    }
    return search;
}

/** By device: the distance of the farthest NIC, and the sum of all. */
std::vector<std::pair<uint32_t, uint64_t>>
DistancesOf(const Topology& topology, const std::vector<DeviceId>& nics, const LinkFilter& isUsable)
{
    std::vector<std::pair<uint32_t, uint64_t>> all(topology.DeviceCount(), {0, 0});
    for (DeviceId nic : nics)
    {
        const Search search = SearchFrom(topology, nic, isUsable);
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            all[i].first = std::max(all[i].first, search.distances[i]);
            all[i].second += search.distances[i];
        }
    }
    return all;
}

/** The switches that may be the root, by id. */
std::vector<DeviceId>
FindRoots(const Topology& topology, const std::vector<DeviceId>& nics, const LinkFilter& isUsable)
{
    const auto distances = DistancesOf(topology, nics, isUsable);
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
    return best;
}

} // namespace

SwitchTree
FindSwitchTree(const Topology& topology,
               const std::vector<DeviceId>& nics,
               uint32_t choice,
               const LinkFilter& isUsable)
{
    const std::vector<DeviceId> roots = FindRoots(topology, nics, isUsable);
    SwitchTree tree;
    tree.root = roots[choice % roots.size()];
    const Search search = SearchFrom(topology, tree.root, isUsable);
    for (DeviceId nic : nics)
    {
        Time latency;
        std::vector<LinkId> path;
        for (DeviceId at = nic; at != tree.root;)
        {
            const std::vector<LinkId>& links = search.links[at.Index()];
            const LinkId down = links[choice / roots.size() % links.size()];
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
