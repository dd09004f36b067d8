// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/cut-pipelines.h"

#include "collectives/schedule/message-split.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace weir
{

namespace
{

uint32_t
PartsOf(Time fill, Time transfer)
{
    constexpr double MAX_PARTS = 4;
    constexpr double PER_TRANSFER = 8; // parts that would fill during the transfer
    return static_cast<uint32_t>(std::min(MAX_PARTS, std::ceil(fill / transfer * PER_TRANSFER)));
}

/** By stage: when the first slice reaches it, as a fraction of the fill time. */
std::vector<double>
StageStarts(const Pipeline& pipeline, const UncontendedRates& rates)
{
    std::vector<double> starts;
    double now = 0;
    for (std::size_t stage = 0; stage < pipeline.path.size(); ++stage)
    {
        starts.push_back(now);
        const Rate rate = rates.ShareOn(pipeline.path[stage], pipeline.cap).rate;
        now += (pipeline.latencies[stage] + pipeline.slice / rate).ToSeconds();
    }
    for (double& start : starts)
    {
        start = now > 0 ? start / now : 0;
    }
    return starts;
}

StreamPipeline
Cut(const Pipeline& pipeline,
    const FillTimes& times,
    uint32_t parts,
    const UncontendedRates& rates,
    Routing& routing)
{
    const Time fill = times.latencies + times.crossings;
    StreamPipeline cut;
    cut.bytes = RoundedUp(pipeline.bytes.ToDouble() * pipeline.weight);
    cut.cap = Rate::BytesPerSecond(cut.bytes.ToDouble() / times.transfer.ToSeconds());
    const std::vector<double> starts = StageStarts(pipeline, rates);
    double middle = 0; // of the part before, as a fraction of the fill time
    std::size_t stage = 0;
    for (uint32_t part = 0; part < parts; ++part)
    {
        RouteSum sum;
        const std::size_t first = stage;
        for (; stage < starts.size() && starts[stage] * parts < part + 1; ++stage)
        {
            for (const RouteId hop : pipeline.stages[stage])
            {
                sum.Add(hop);
            }
        }
        if (stage == first)
        {
            continue; // a longer stage of the part before
        }
        const double own = (part + 0.5) / parts;
        StreamPipeline::Part next;
        next.route = routing.AddSum(sum);
        next.lead = fill * (own - middle);
        if (!cut.parts.empty())
        {
            next.head = std::min(1.0, times.crossings * (own - middle) / times.transfer);
        }
        cut.parts.push_back(next);
        middle = own;
    }
    cut.parts.front().lead += times.start;
    cut.drain = fill * (1 - middle);
    return cut;
}

} // namespace

std::vector<StreamPipeline>
CutPipelines(const std::vector<Pipeline>& pipelines,
             const FillTimes& times,
             double chunks,
             const UncontendedRates& rates,
             Routing& routing)
{
    const uint32_t parts = PartsOf(times.latencies + times.crossings, times.transfer);
    if (parts < 2)
    {
        return {};
    }
    std::vector<StreamPipeline> cuts;
    for (const Pipeline& pipeline : pipelines)
    {
        StreamPipeline cut = Cut(pipeline, times, parts, rates, routing);
        double moved = 1; // by the last part and all heads, as a multiple of the bytes
        for (const StreamPipeline::Part& part : cut.parts)
        {
            moved += part.head;
        }
        const double share = ContendedShare(rates, pipeline.path, chunks);
        cut.weight = pipeline.chunkWeight * pipeline.weight * std::min(1.0, share * moved);
        cuts.push_back(std::move(cut));
    }
    return cuts;
}

} // namespace weir
