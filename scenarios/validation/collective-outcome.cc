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
    return {"size " + SizeClass(sweep.sizes[point]),
            std::string(ToString(sweep.launch)) + ", " + SizeClass(sweep.sizes[point]),
            std::string("op ") + ToString(sweep.op),
            sweep.cluster.nodes > 1 ? "nodes several" : "nodes one",
            std::string("algorithm ") + ToString(outcome.points[point].algorithm),
            "system " + sweep.cluster.name};
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
