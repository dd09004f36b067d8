// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/explain-collective.h"

#include "collectives/communicator.h"
#include "fabric/routing/routing.h"
#include "fabric/topology/cluster.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/simulation.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weir
{

namespace
{

constexpr std::size_t MAX_SHOWN = 32; //!< ranks of a ring or a tree; longer ones are shortened

/** The first MAX_SHOWN of @p ranks. */
std::string
FirstOf(const std::vector<std::string>& ranks)
{
    const auto end = ranks.begin() + static_cast<std::ptrdiff_t>(std::min(ranks.size(), MAX_SHOWN));
    return JoinNames({ranks.begin(), end}, " ") +
           (ranks.size() > MAX_SHOWN ? " ... of " + std::to_string(ranks.size()) : "");
}

/** A line for each distinct list in @p ranksOf, by channel, with all channels that have it. */
std::string
LinesOf(const char* what, const std::vector<std::vector<std::string>>& ranksOf)
{
    std::map<std::vector<std::string>, std::string> channelsOf;
    for (std::size_t c = 0; c < ranksOf.size(); c++)
    {
        std::string& channels = channelsOf[ranksOf[c]];
        channels += (channels.empty() ? "" : ",") + std::to_string(c);
    }
    std::string text;
    for (const auto& ranks : ranksOf)
    {
        if (const auto entry = channelsOf.extract(ranks))
        {
            text += std::string("#   ") + what + " on channel " + entry.mapped() + ": " +
                    FirstOf(ranks) + "\n";
        }
    }
    return text;
}

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
        std::vector<std::vector<std::string>> rings; // by channel
        for (const RingChannel& ring : m_communicator.channels)
        {
            std::vector<std::string> ranks;
            for (std::size_t i = 0; i < ring.order.size(); ++i)
            {
                ranks.push_back(Gpu(ring.order[i]) +
                                (i < ring.hops.size() ? Nics(ring.hops[i]) : ""));
            }
            rings.push_back(std::move(ranks));
        }
        return LinesOf("ring", rings);
    }

    std::string Trees() const
    {
        std::vector<std::vector<std::string>> trees; // by channel
        for (const auto& channel : m_communicator.trees)
        {
            const auto& tree = channel.neighbors;
            std::vector<std::string> ranks;
            for (uint32_t rank = 0; rank < tree.size(); ++rank)
            {
                const TreeNeighbors& neighbors = tree[rank];
                ranks.push_back(Gpu(rank) +
                                (neighbors.parent == TreeNeighbors::NO_RANK
                                     ? std::string(" root")
                                     : "<" + Gpu(neighbors.parent) + Nics(neighbors.toParent)));
            }
            trees.push_back(std::move(ranks));
        }
        return LinesOf("tree", trees);
    }

  private:
    std::string Gpu(uint32_t rank) const
    {
        const GpuId gpu = m_communicator.gpus[rank];
        return std::to_string(m_cluster.NodeOf(gpu)) + ":" +
               std::to_string(m_cluster.LocalIndexOf(gpu));
    }

    /**
     * The NICs of a hop between nodes, " (nic 0 > nic 1)", with all ports of merged ones, " (nic
     * 0-1 > nic 2-3)"; empty for a hop inside a node.
     */
    std::string Nics(const Connection& hop) const
    {
        if (hop.kind != ConnectionKind::Network)
        {
            return "";
        }
        const Topology& topology = m_routing.GetTopology();
        std::set<uint32_t> out;
        std::set<uint32_t> in;
        for (std::size_t i = 0; i < m_routing.StripeCount(hop.route); i++)
        {
            for (const auto& each : m_routing.Links(m_routing.Stripe(hop.route, i)))
            {
                const Link& link = topology.GetLink(each.link);
                const Device& from = topology.GetDevice(link.from);
                const Device& to = topology.GetDevice(link.to);
                if (link.kind == LinkKind::Network && from.kind == DeviceKind::Nic)
                {
                    out.insert(from.index);
                }
                if (link.kind == LinkKind::Network && to.kind == DeviceKind::Nic)
                {
                    in.insert(to.index);
                }
            }
        }
        return " (nic " + Range(out) + " > nic " + Range(in) + ")";
    }

    /** Consecutive numbers of ports: "0", "0-1"; "?" for none. */
    static std::string Range(const std::set<uint32_t>& ports)
    {
        if (ports.empty())
        {
            return "?";
        }
        const std::string first = std::to_string(*ports.begin());
        return ports.size() == 1 ? first : first + "-" + std::to_string(*ports.rbegin());
    }

    const Communicator& m_communicator;
    const Cluster& m_cluster;
    const Routing& m_routing;
};

std::string
GraphText(const char* name, uint32_t channels, double intra, double inter)
{
    return channels == 0
               ? ""
               : FormatText("#   %s graph: %u channels of %.4g GB/s inside nodes, %.4g between\n",
                            name,
                            channels,
                            intra,
                            inter);
}

/**
 * The channels of a communicator: NCCL's graphs with their speeds, then each distinct ring (GPUs as
 * node:gpu, in order, with the NICs of hops between nodes) and each distinct tree (rank < parent),
 * with at most MAX_SHOWN ranks each.
 */
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

class Explanation
{
  public:
    explicit Explanation(const CollectiveSweepSpec& spec)
        : m_spec(spec),
          m_simulation(spec.cluster, SettingsOf(spec)),
          m_planner(m_simulation.GetPlanner()),
          m_communicator(m_planner.AddCommunicator(SweepGpus(spec)))
    {
        if (spec.program)
        {
            m_planner.AddProgram(*spec.program);
        }
    }

    std::string Channels()
    {
        return ExplainChannels(m_planner.GetCommunicator(m_communicator),
                               m_simulation.GetCluster(),
                               m_simulation.GetRouting());
    }

    std::string Size(Bytes size)
    {
        const CollectiveCall call = CallOf(m_spec, m_planner, m_communicator, size);
        const CollectivePlan plan = m_planner.Plan(call);
        std::string text =
            "#\n# " + std::string(ToString(call.op)) + " of " + std::to_string(size.Count()) +
            " B: " + ToString(plan.algorithm) + " " + ToString(plan.protocol) + " on " +
            std::to_string(plan.channels) + " channels, " +
            FormatSeconds(plan.duration.ToSeconds()) +
            (plan.Overlaps() ? " uncontended; the back-to-back calls below overlap" : "") + "\n";
        const std::string chunks =
            m_spec.program ? "" : Chunks(call); // an imported program has its own chunks
        return text + Alternatives(call, plan) + chunks + Shares(plan) + Launches(plan);
    }

  private:
    std::string Alternatives(const CollectiveCall& call, const CollectivePlan& chosen)
    {
        std::string text;
        for (const auto& each : m_planner.Estimates(call))
        {
            CollectiveCall forced = call;
            forced.overrides.algorithm = each.algorithm;
            forced.overrides.protocol = each.protocol;
            const bool is = each.algorithm == chosen.algorithm && each.protocol == chosen.protocol;
            const Time own = m_planner.Plan(forced).duration;
            text += FormatText(
                "#   %s %-14s %-6s NCCL expects %12s, Weir %12s\n",
                is ? "*" : " ",
                ToString(each.algorithm),
                ToString(each.protocol),
                each.time.IsInfinite() ? "off" : FormatSeconds(each.time.ToSeconds()).c_str(),
                FormatSeconds(own.ToSeconds()).c_str());
        }
        return text;
    }

    std::string Chunks(const CollectiveCall& call)
    {
        try
        {
            return ChunksOf(call);
        }
        catch (const std::length_error& error)
        {
            return std::string("#   no list of chunks: ") + error.what() + "\n";
        }
    }

    std::string ChunksOf(const CollectiveCall& call)
    {
        const Schedule& schedule = m_planner.GetSchedule(call);
        std::string text;
        if (schedule.channels.empty())
        {
            return text;
        }
        for (const auto& loop : schedule.channels.front().schedule.loops)
        {
            if (loop.chunks.empty())
            {
                continue;
            }
            text += "#   channel 0: " + std::to_string(loop.repeat) + " x " +
                    std::to_string(loop.chunks.size()) + " chunks of " +
                    std::to_string(loop.chunks.front().Count()) + " B, each in " +
                    std::to_string(loop.slices) + " slices\n";
        }
        return text;
    }

    /** The shares of latency and of moving bytes, on the bottleneck link or in thread blocks. */
    std::string Shares(const CollectivePlan& plan)
    {
        if (plan.duration <= Time())
        {
            return "";
        }
        const double latency = 1 - plan.wire / plan.duration;
        const bool wire = plan.bottleneck.IsValid();
        return FormatText("#   latency %.1f %%, %s %.1f %%; ",
                          100 * latency,
                          wire ? "wire" : "thread blocks",
                          100 * (1 - latency)) +
               (wire ? "bottleneck " + LinkName(plan.bottleneck)
                     : std::string("no link is the bottleneck")) +
               "\n";
    }

    /** The launch time of a call. */
    std::string Launches(const CollectivePlan& plan)
    {
        const NodeCosts costs(m_spec.cluster.node);
        const Time row = LaunchTime(costs, m_spec.nccl.launch, m_spec.gpusPerNode);
        const Time blocks = BlockLaunchTime(
            costs, m_spec.nccl.launch, NcclVersion::Parse(m_spec.nccl.version), plan.blocks);
        const Time idle = IdleLaunchTime(costs, m_spec.nccl.launch);
        std::string text = std::string("#   launch ") + ToString(m_spec.nccl.launch) + ": ";
        text += row > Time() ? "at most one call per " + FormatSeconds(row.ToSeconds())
                             : "the host does not limit calls";
        text += blocks > Time() ? ", " + FormatSeconds(blocks.ToSeconds()) + " extra for " +
                                      std::to_string(plan.blocks) + " thread blocks"
                                : "";
        return text +
               (idle > Time() ? ", " + FormatSeconds(idle.ToSeconds()) + " extra on an idle GPU"
                              : "") +
               "\n";
    }

    std::string LinkName(LinkId id)
    {
        const Topology& topology = m_simulation.GetTopology();
        const Link& link = topology.GetLink(id);
        return topology.GetDevice(link.from).name + " > " + topology.GetDevice(link.to).name +
               FormatText(" at %.4g GB/s", link.rate.ToGBps());
    }

    const CollectiveSweepSpec& m_spec;
    Simulation m_simulation;
    Planner& m_planner;
    CommunicatorId m_communicator;
};

} // namespace

std::string
ExplainCollective(const CollectiveSweepSpec& spec)
{
    return ConvertErrors("", [&] {
        Explanation explanation(spec);
        std::string text = explanation.Channels();
        for (const Bytes size : spec.sizes)
        {
            text += explanation.Size(size);
        }
        return text;
    });
}

} // namespace weir
