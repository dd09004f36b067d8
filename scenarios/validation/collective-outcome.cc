// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/collective-outcome.h"

namespace weir
{

namespace
{

std::string
SizeClass(Bytes size)
{
    return size < Bytes::MiB(1)    ? "below 1 MiB"
           : size < Bytes::MiB(64) ? "1 to 64 MiB"
                                   : "from 64 MiB";
}

/** What joins the GPUs of a node. */
std::string
GpuLinksOf(const NodeSpec& node)
{
    return node.wiring == NvLinkWiring::Switched ? "nvswitch"
           : node.wiring == NvLinkWiring::Mesh   ? "nvlink mesh"
                                                 : "pcie";
}

} // namespace

CollectiveOutcome
RunMeasuredCollective(const MeasuredCollective& run, Fidelity fidelity)
{
    CollectiveSweepSpec sweep = run.sweep;
    sweep.fidelity = fidelity;
    return {run, RunCollectiveSweep(sweep)};
}

std::vector<std::string>
ClassesOf(const CollectiveOutcome& outcome, std::size_t point)
{
    const auto& sweep = outcome.run.sweep;
    const std::string size = SizeClass(sweep.sizes[point]);
    const bool isOne = sweep.cluster.nodes == 1;
    std::vector<std::string> classes{
        "size " + size,
        std::string(ToString(sweep.nccl.launch)) + ", " + size,
        std::string("op ") + ToString(sweep.op),
        isOne ? "nodes one" : "nodes several",
        GpuLinksOf(sweep.cluster.node) + (isOne ? ", one node, " : ", several nodes, ") + size,
        std::string("algorithm ") + ToString(outcome.points[point].algorithm),
        "system " + sweep.cluster.name};
    if (!outcome.run.suite.empty())
    {
        classes.push_back("suite " + outcome.run.suite);
    }
    return classes;
}

Chart
BandwidthChart(const CollectiveOutcome& outcome)
{
    const auto& sweep = outcome.run.sweep;
    const auto ranks = static_cast<uint32_t>(SweepGpus(sweep).size());
    const double factor = BusBandwidthFactor(sweep.op, ranks);
    ChartSeries measured{"measured", SeriesStyle::Points, 1};
    ChartSeries simulated{"Weir", SeriesStyle::Line, 0};
    for (std::size_t i = 0; i < sweep.sizes.size(); ++i)
    {
        const double bytes = sweep.sizes[i].ToDouble();
        measured.x.push_back(bytes);
        measured.y.push_back(bytes * factor / outcome.run.measured[i] * 1e-9);
        simulated.x.push_back(bytes);
        simulated.y.push_back(outcome.points[i].busBandwidth.ToGBps());
    }
    return {outcome.run.name,
            {"message size", AxisScale::BinaryBytes},
            {"bus bandwidth, GB/s", AxisScale::Linear},
            {simulated, measured}};
}

} // namespace weir
