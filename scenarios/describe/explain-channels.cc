// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/explain-channels.h"

#include <cstdio>
#include <map>
#include <vector>

namespace weir
{

namespace
{

/** Texts that several channels have, with the channels, in the order of first appearance. */
class ChannelsByText
{
  public:
    void Add(const std::string& text, std::size_t channel)
    {
        const auto [it, isNew] = m_places.emplace(text, m_entries.size());
        if (isNew)
        {
            m_entries.push_back({text, ""});
        }
        std::string& channels = m_entries[it->second].second;
        channels += (channels.empty() ? "" : ",") + std::to_string(channel);
    }

    std::string ToText(const char* what) const
    {
        std::string text;
        for (const auto& [entry, channels] : m_entries)
        {
            text += std::string("#   ") + what + " on channel " + channels + ": " + entry + "\n";
        }
        return text;
    }

  private:
    std::map<std::string, std::size_t> m_places;
    std::vector<std::pair<std::string, std::string>> m_entries;
};

class ChannelText
{
  public:
    ChannelText(const Communicator& communicator, const Cluster& cluster, const Routing& routing)
        : m_communicator(communicator),
          m_cluster(cluster),
          m_routing(routing)
    {
    }

    std::string Rings() const
    {
        ChannelsByText rings;
        for (std::size_t c = 0; c < m_communicator.channels.size(); ++c)
        {
            const RingChannel& ring = m_communicator.channels[c];
            std::string text;
            for (std::size_t i = 0; i < ring.order.size(); ++i)
            {
                text += (i > 0 ? " " : "") + Gpu(ring.order[i]);
                if (i < ring.hops.size())
                {
                    text += Nics(ring.hops[i]);
                }
            }
            rings.Add(text, c);
        }
        return rings.ToText("ring");
    }

    std::string Trees() const
    {
        ChannelsByText trees;
        for (std::size_t c = 0; c < m_communicator.trees.size(); ++c)
        {
            const auto& places = m_communicator.trees[c].places;
            std::string text;
            for (uint32_t rank = 0; rank < places.size(); ++rank)
            {
                const TreePlace& place = places[rank];
                text += (rank > 0 ? " " : "") + Gpu(rank);
                text += place.parent == TreePlace::NO_RANK
                            ? std::string(" root")
                            : "<" + Gpu(place.parent) + Nics(place.toParent);
            }
            trees.Add(text, c);
        }
        return trees.ToText("tree");
    }

  private:
    std::string Gpu(uint32_t rank) const
    {
        const GpuId gpu = m_communicator.gpus[rank];
        return std::to_string(m_cluster.NodeOf(gpu)) + ":" +
               std::to_string(m_cluster.LocalIndexOf(gpu));
    }

    /** The ports of a hop between nodes, " (nic 0 > nic 1)"; of a hop inside a node nothing. */
    std::string Nics(const Connection& hop) const
    {
        if (hop.kind != ConnectionKind::Network)
        {
            return "";
        }
        const Topology& topology = m_routing.GetTopology();
        std::string out = "?";
        std::string in = "?";
        for (const auto& each : m_routing.Links(hop.route))
        {
            const Link& link = topology.GetLink(each.link);
            const Device& from = topology.GetDevice(link.from);
            const Device& to = topology.GetDevice(link.to);
            if (link.kind == LinkKind::Network && from.kind == DeviceKind::Nic)
            {
                out = std::to_string(from.index);
            }
            if (link.kind == LinkKind::Network && to.kind == DeviceKind::Nic)
            {
                in = std::to_string(to.index);
            }
        }
        return " (nic " + out + " > nic " + in + ")";
    }

    const Communicator& m_communicator;
    const Cluster& m_cluster;
    const Routing& m_routing;
};

std::string
GraphText(const char* name, uint32_t channels, double intra, double inter)
{
    char text[128];
    std::snprintf(text,
                  sizeof text,
                  "#   %s graph: %u channels of %.4g GB/s inside nodes, %.4g between\n",
                  name,
                  channels,
                  intra,
                  inter);
    return channels == 0 ? "" : text;
}

} // namespace

std::string
ExplainChannels(const Communicator& communicator, const Cluster& cluster, const Routing& routing)
{
    const ChannelText channels(communicator, cluster, routing);
    const double speed = communicator.searchBandwidth / communicator.searchChannels;
    const auto graph = [](const char* name, const GraphSpeed& found) {
        return GraphText(name, found.channels, found.intra, found.inter);
    };
    return "# NCCL's search (before it duplicates channels):\n" +
           GraphText("ring", communicator.searchChannels, speed, speed) +
           graph("tree", communicator.treeGraph) + graph("NVLS", communicator.nvlsGraph) +
           graph("CollNet", communicator.collNetGraph) + "#   LL128 " +
           (communicator.ll128 ? "on" : "off") + "\n# " +
           std::to_string(communicator.channels.size()) + " ring channels, " +
           std::to_string(communicator.trees.size()) + " tree channels; GPUs as node:gpu\n" +
           channels.Rings() + channels.Trees();
}

} // namespace weir
