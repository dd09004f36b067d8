// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_NETWORK_FIGURES_H
#define WEIR_TESTS_FABRIC_NETWORK_FIGURES_H

#include "fabric/topology/cluster.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * Figures of a network by elementary methods: counting, breadth-first search, maximum flow.
 */
namespace weir
{

inline std::size_t
CountKind(const Topology& topology, DeviceKind kind)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        count += topology.GetDevice(DeviceId(i)).kind == kind;
    }
    return count;
}

/** Number of wires between switches; each direction of a wire counts half. */
inline std::size_t
CountTrunks(const Topology& topology)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        count += JoinsSwitches(topology, LinkId(i));
    }
    return count / 2;
}

/**
 * Number of network links from @p from to every device; the maximum value where there is no path.
 */
inline std::vector<uint32_t>
NetworkDistances(const Topology& topology, DeviceId from)
{
    std::vector<uint32_t> distances(topology.DeviceCount(), std::numeric_limits<uint32_t>::max());
    std::vector<DeviceId> queue{from};
    distances[from.Index()] = 0;
    for (std::size_t i = 0; i < queue.size(); i++)
    {
        const DeviceId at = queue[i];
        if (i > 0 && !IsNetworkSwitch(topology.GetDevice(at)))
        {
            continue;
        }
        for (const LinkId id : topology.LinksFrom(at))
        {
            const Link& link = topology.GetLink(id);
            uint32_t& there = distances[link.to.Index()];
            if (link.kind == LinkKind::Network && there == std::numeric_limits<uint32_t>::max())
            {
                there = distances[at.Index()] + 1;
                queue.push_back(link.to);
            }
        }
    }
    return distances;
}

/** Largest number of links between two switches that have NICs. */
inline uint32_t
SwitchDiameter(const Cluster& cluster)
{
    uint32_t max = 0;
    for (uint32_t node = 0; node < cluster.NodeCount(); node++)
    {
        for (uint32_t nic = 0; nic < cluster.NicsPerNode(); nic++)
        {
            const auto distances =
                NetworkDistances(cluster.GetTopology(), cluster.NicDevice(node, nic));
            for (uint32_t other = 0; other < cluster.NodeCount(); other++)
            {
                for (uint32_t port = 0; port < cluster.NicsPerNode(); port++)
                {
                    const uint32_t links = distances[cluster.NicDevice(other, port).Index()];
                    max = std::max(max, links < 2 ? 0 : links - 2);
                }
            }
        }
    }
    return max;
}

/**
 * Maximum flow, GB/s, from the switches of the first half of @p order to those of the second over
 * the links between switches (Edmonds and Karp).
 */
inline double
BisectionRate(const Topology& topology, const std::vector<DeviceId>& order)
{
    const std::size_t source = topology.DeviceCount();
    const std::size_t sink = source + 1;

    struct Edge
    {
        std::size_t to;
        double left;
        std::size_t back;
    };

    std::vector<std::vector<Edge>> edges(sink + 1);
    const auto add = [&](std::size_t a, std::size_t b, double capacity) {
        edges[a].push_back({b, capacity, edges[b].size()});
        edges[b].push_back({a, 0, edges[a].size() - 1});
    };
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        if (JoinsSwitches(topology, LinkId(i)))
        {
            add(link.from.Index(), link.to.Index(), link.rate.ToGBps());
        }
    }
    const double endless = 1e12;
    for (std::size_t i = 0; i < order.size(); i++)
    {
        i < order.size() / 2 ? add(source, order[i].Index(), endless)
                             : add(order[i].Index(), sink, endless);
    }
    double flow = 0;
    for (;;)
    {
        std::vector<std::pair<std::size_t, std::size_t>> via(sink + 1, {sink + 1, 0});
        std::vector<std::size_t> queue{source};
        via[source].first = source;
        for (std::size_t i = 0; i < queue.size(); i++)
        {
            for (std::size_t e = 0; e < edges[queue[i]].size(); e++)
            {
                const Edge& edge = edges[queue[i]][e];
                if (edge.left > 1e-9 && via[edge.to].first == sink + 1)
                {
                    via[edge.to] = {queue[i], e};
                    queue.push_back(edge.to);
                }
            }
        }
        if (via[sink].first == sink + 1)
        {
            return flow;
        }
        double max = endless;
        for (std::size_t at = sink; at != source; at = via[at].first)
        {
            max = std::min(max, edges[via[at].first][via[at].second].left);
        }
        for (std::size_t at = sink; at != source; at = via[at].first)
        {
            Edge& edge = edges[via[at].first][via[at].second];
            edge.left -= max;
            edges[edge.to][edge.back].left += max;
        }
        flow += max;
    }
}

/** Reason why a cluster cannot be wired; empty if it can. */
inline std::string
RefusalOf(const ClusterSpec& spec)
{
    try
    {
        Cluster cluster(spec);
    }
    catch (const std::invalid_argument& error)
    {
        return error.what();
    }
    return "";
}

/** All switches of one kind, in ascending order. */
inline std::vector<DeviceId>
SwitchesOf(const Topology& topology, DeviceKind kind)
{
    std::vector<DeviceId> switches;
    for (std::size_t i = 0; i < topology.DeviceCount(); i++)
    {
        if (topology.GetDevice(DeviceId(i)).kind == kind)
        {
            switches.emplace_back(i);
        }
    }
    return switches;
}

} // namespace weir

#endif // WEIR_TESTS_FABRIC_NETWORK_FIGURES_H
