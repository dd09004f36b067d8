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

/** Whether a tree may use a link of the network and its opposite. */
bool
IsOfTrees(const Topology& topology, LinkId id, const LinkFilter& isUsable)
{
    const Link& link = topology.GetLink(id);
    return link.kind == LinkKind::Network && link.opposite.IsValid() && isUsable(id) &&
           isUsable(link.opposite);
}

/** By device: its distance from @p from over switches of the network, in links. */
std::vector<uint32_t>
DistancesFrom(const Topology& topology, DeviceId from, const LinkFilter& isUsable)
{
    std::vector<uint32_t> distances(topology.DeviceCount(), UNREACHED);
    std::vector<DeviceId> queue{from};
    distances[from.Index()] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
    {
        const DeviceId at = queue[i];
        if (i > 0 && !IsSwitch(topology.GetDevice(at)))
        {
            continue;
        }
        for (LinkId id : topology.LinksFrom(at))
        {
            const DeviceId to = topology.GetLink(id).to;
            if (distances[to.Index()] == UNREACHED && IsOfTrees(topology, id, isUsable))
            {
                distances[to.Index()] = distances[at.Index()] + 1;
                queue.push_back(to);
            }
        }
    }
    return distances;
}

/** The links from a device that are on shortest paths to the root. */
std::vector<LinkId>
LinksToRoot(const Topology& topology,
            DeviceId from,
            const std::vector<uint32_t>& distances,
            const LinkFilter& isUsable)
{
    std::vector<LinkId> links;
    for (LinkId id : topology.LinksFrom(from))
    {
        const DeviceId to = topology.GetLink(id).to;
        if (IsSwitch(topology.GetDevice(to)) &&
            distances[to.Index()] + 1 == distances[from.Index()] &&
            IsOfTrees(topology, id, isUsable))
        {
            links.push_back(id);
        }
    }
    return links;
}

/** By device: the distance of the farthest NIC, and the sum over all NICs. */
std::vector<std::pair<uint32_t, uint64_t>>
DistancesOf(const Topology& topology, const std::vector<DeviceId>& nics, const LinkFilter& isUsable)
{
    std::vector<std::pair<uint32_t, uint64_t>> all(topology.DeviceCount(), {0, 0});
    for (DeviceId nic : nics)
    {
        const std::vector<uint32_t> distances = DistancesFrom(topology, nic, isUsable);
        for (std::size_t i = 0; i < all.size(); ++i)
        {
            all[i].first = std::max(all[i].first, distances[i]);
            all[i].second += distances[i];
        }
    }
    return all;
}

/** The switches that may be the root, in ascending order of id. */
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
        throw std::runtime_error("no switch connects the " + std::to_string(nics.size()) +
                                 " ports of an in-network reduction");
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
    const std::vector<uint32_t> distances = DistancesFrom(topology, tree.root, isUsable);
    for (DeviceId nic : nics)
    {
        Time latency;
        std::vector<LinkId> path;
        for (DeviceId at = nic; at != tree.root;)
        {
            const std::vector<LinkId> links = LinksToRoot(topology, at, distances, isUsable);
            const LinkId up = links[choice / roots.size() % links.size()];
            const Link& link = topology.GetLink(up);
            tree.links.push_back(up);
            tree.links.push_back(link.opposite);
            path.push_back(up);
            latency += link.latency + topology.GetLink(link.opposite).latency;
            at = link.to;
        }
        tree.paths.push_back(std::move(path));
        tree.latency = std::max(tree.latency, latency);
    }
    std::sort(tree.links.begin(), tree.links.end());
    tree.links.erase(std::unique(tree.links.begin(), tree.links.end()), tree.links.end());
    return tree;
}

} // namespace weir
