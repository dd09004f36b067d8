// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-system.h"

#include "collectives/nccl/node-costs.h"
#include "scenarios/readers/machine-parts.h"
#include "scenarios/results/text-table.h"
#include "scenarios/simulation/simulation.h"

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <sstream>

namespace weir
{

namespace
{

std::string
Count(double value)
{
    return FormatFixed(value, 0);
}

std::string
GpuLines(const SystemDescription& system)
{
    const Gpu& gpu = system.gpu;
    TextTable table(2);
    table.Row({"GPU",
               gpu.name + ": " + Count(gpu.sms) + " SMs at up to " +
                   FormatFixed(gpu.boostClockHz * 1e-9, 3) + " GHz, " +
                   FormatFixed(gpu.DatasheetPeak(Precision::Bf16).ToTeraFlops(), 0) +
                   " TFLOP/s bf16, " + FormatFixed(gpu.memory.ToDouble() / (1 << 30), 0) +
                   " GiB at " + Count(gpu.memoryRate.ToGBps()) + " GB/s"});
    table.Row({"kernels", "measured on " + gpu.kernels.measuredOn});
    return table.Print(2);
}

/** One line per kind of link: the number of one-way links, and the rate and latency of each. */
std::string
LinkLines(const Cluster& cluster)
{
    struct Row
    {
        const Link* link;
        std::size_t count;
    };

    const Topology& topology = cluster.GetTopology();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        const Link& link = topology.GetLink(LinkId(i));
        const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
            return row.link->profile == link.profile && row.link->rate == link.rate &&
                   row.link->latency == link.latency && row.link->kind == link.kind;
        });
        if (same != rows.end())
        {
            same->count++;
            continue;
        }
        rows.push_back({&link, 1});
    }
    TextTable table(2);
    table.Row({"links", "profile", "one-way", "payload GB/s", "latency ns"});
    for (const auto& row : rows)
    {
        table.Row({ToString(row.link->kind),
                   topology.GetProfileName(row.link->profile),
                   Count(static_cast<double>(row.count)),
                   FormatFixed(row.link->rate.ToGBps(), 2),
                   FormatFixed(row.link->latency.ToMicroseconds() * 1e3, 0)});
    }
    return table.Print(2);
}

/** The channels that NCCL finds for all GPUs of the first @p nodes nodes. */
std::vector<std::string>
ChannelRow(Planner& planner, uint32_t nodes)
{
    const Cluster& cluster = planner.GetCluster();
    std::vector<GpuId> gpus;
    for (uint32_t gpu = 0; gpu < nodes * cluster.GpusPerNode(); gpu++)
    {
        gpus.emplace_back(gpu);
    }
    const auto& found = planner.GetCommunicator(planner.AddCommunicator(gpus));
    std::string order;
    for (const uint32_t rank : found.channels.front().order)
    {
        order += (order.empty() ? "" : " ") + std::to_string(rank);
    }
    return {Count(nodes) + (nodes == 1 ? " node" : " nodes"),
            Shorten(order, 48),
            Count(static_cast<double>(found.channels.size())),
            FormatFixed(found.searchBandwidth, 1)};
}

std::string
ChannelLines(Planner& planner)
{
    TextTable table(2);
    table.Row({"NCCL rings", "first ring", "channels", "graph GB/s"});
    for (uint32_t nodes = 1; nodes <= std::min(2U, planner.GetCluster().NodeCount()); nodes++)
    {
        if (nodes * planner.GetCluster().GpusPerNode() > 1)
        {
            table.Row(ChannelRow(planner, nodes));
        }
    }
    return table.Print(2);
}

/** For each kind of device, the name of the first one and the count. */
std::string
DeviceLines(const Cluster& cluster)
{
    const Topology& topology = cluster.GetTopology();
    TextTable table(2);
    table.Row({"devices", "first name", "count"});
    for (std::size_t kind = 0; kind <= static_cast<std::size_t>(DeviceKind::Host); kind++)
    {
        std::string first;
        std::size_t count = 0;
        for (std::size_t i = 0; i < topology.DeviceCount(); i++)
        {
            const Device& device = topology.GetDevice(DeviceId(i));
            if (static_cast<std::size_t>(device.kind) == kind)
            {
                first = count++ == 0 ? device.name : first;
            }
        }
        if (count > 0)
        {
            table.Row({ToString(static_cast<DeviceKind>(kind)),
                       first,
                       Count(static_cast<double>(count))});
        }
    }
    return table.Print(2);
}

/** Per-message overheads, given or default, with their sources. */
std::string
CostLines(const NodeSpec& node)
{
    const NodeCosts costs(node);
    std::ostringstream lines;
    lines << std::left << "  " << std::setw(24) << "costs" << std::setw(13) << "value"
          << "from\n";
    for (const NodeCostFigure& figure : NodeCostFigures())
    {
        const NodeCost& cost = costs.Get(figure.kind);
        const bool unbounded = cost.value >= std::numeric_limits<int32_t>::max();
        std::ostringstream value;
        value << std::setprecision(4) << cost.value
              << (figure.unit == NodeCostUnit::Factor ? "" : " ") << UnitName(figure.unit);
        lines << "  " << std::setw(24) << figure.key << std::setw(13)
              << (unbounded ? "no bound" : value.str()) << cost.source << "\n";
    }
    return lines.str();
}

} // namespace

ClusterSpec
WithJoinedNodes(ClusterSpec cluster)
{
    // A fabric of a fixed size has the number of nodes that fills it.
    if (cluster.fabric.kind->JoinsNodes() &&
        cluster.fabric.kind->NodesThatFill(cluster.node).value_or(0) == 0)
    {
        cluster.nodes = std::max(cluster.nodes, 2U);
    }
    return cluster;
}

std::string
DescribeSystem(const SystemDescription& system)
{
    const ClusterSpec spec = WithJoinedNodes(system.cluster);
    Simulation simulation(spec);
    return system.cluster.name + ": " + "nodes of " + Count(spec.node.gpus) +
           " GPUs; number of nodes shown: " + Count(spec.nodes) + "\n" + GpuLines(system) +
           LinkLines(simulation.GetCluster()) + ChannelLines(simulation.GetPlanner()) +
           DeviceLines(simulation.GetCluster()) + CostLines(spec.node);
}

} // namespace weir
