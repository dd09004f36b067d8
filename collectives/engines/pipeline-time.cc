// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/pipeline-time.h"

#include "fabric/routing/concurrent-shares.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace weir
{

namespace
{

/** What the hops of all stages put on their routes when they are busy at once. */
std::vector<RouteLoad>
LoadsOfHops(const std::vector<Pipeline>& pipelines)
{
    std::vector<RouteLoad> loads;
    for (const auto& pipeline : pipelines)
    {
        for (const auto& stage : pipeline.stages)
        {
            for (const RouteId hop : stage)
            {
                loads.push_back({hop, pipeline.weight});
            }
        }
    }
    return loads;
}

/** The links' loads while slices move tick by tick. */
class Ticks
{
  public:
    Ticks(const std::vector<Pipeline>& pipelines, Routing& routing, double calls)
        : m_pipelines(pipelines),
          m_routing(routing),
          m_calls(calls),
          m_shares(routing, [&pipelines] { return LoadsOfHops(pipelines); })
    {
    }

    /** Stage @p stage gets busy (@p sign 1) or idle (-1). */
    void Change(std::size_t stage, double sign)
    {
        for (const auto& pipeline : m_pipelines)
        {
            if (stage >= pipeline.stages.size())
            {
                continue;
            }
            for (RouteId hop : pipeline.stages[stage])
            {
                m_shares.ForEach(hop, [&](LinkId link, double share) {
                    m_loads[link.Index()] += sign * share * pipeline.weight * m_calls;
                });
            }
        }
    }

    /** What a slice takes over its path's hop in @p stage now. */
    Time Crossing(const Pipeline& pipeline, std::size_t stage)
    {
        const auto& topology = m_routing.GetTopology();
        Rate rate = pipeline.cap;
        m_shares.ForEach(pipeline.path[stage], [&](LinkId link, double share) {
            const double load = std::max(m_loads[link.Index()], share);
            rate = std::min(rate, topology.GetLink(link).rate / load);
        });
        return pipeline.slice / rate;
    }

  private:
    const std::vector<Pipeline>& m_pipelines;
    const Routing& m_routing;
    double m_calls;
    ConcurrentShares m_shares;
    std::unordered_map<uint32_t, double> m_loads; //!< by link
};

/** Of the pipeline that has most. */
std::size_t
Stages(const std::vector<Pipeline>& pipelines)
{
    std::size_t stages = 0;
    for (const auto& each : pipelines)
    {
        stages = std::max(stages, each.path.size());
    }
    return stages;
}

/** end(K - 1, S - 1) of every pipeline for K = @p slices whole slices, with b or without. */
std::vector<Time>
Ends(const std::vector<Pipeline>& pipelines,
     Routing& routing,
     std::size_t slices,
     double calls,
     bool blocks)
{
    Ticks ticks(pipelines, routing, calls);
    std::vector<std::vector<Time>> ends; // by pipeline and stage: when the last slice so far left
    std::vector<std::vector<Time>> free; // as above: when the stage's block takes the next one
    for (const auto& each : pipelines)
    {
        ends.emplace_back(each.path.size());
        free.emplace_back(each.path.size());
    }
    for (std::size_t tick = 0; tick + 1 < slices + Stages(pipelines); ++tick)
    {
        if (tick >= slices)
        {
            ticks.Change(tick - slices, -1);
        }
        ticks.Change(tick, 1);
        const std::size_t first = tick + 1 > slices ? tick + 1 - slices : 0;
        for (std::size_t p = 0; p < pipelines.size(); ++p)
        {
            // From the last busy stage on: the one before it still has the end of its own slice.
            const std::size_t stages = pipelines[p].path.size();
            for (std::size_t stage = std::min(tick + 1, stages); stage-- > first;)
            {
                const Time before = stage > 0 ? ends[p][stage - 1] : Time();
                const Time start = std::max({before, ends[p][stage], free[p][stage]});
                free[p][stage] = blocks ? start + pipelines[p].slice / pipelines[p].block : Time();
                ends[p][stage] = start + ticks.Crossing(pipelines[p], stage);
            }
        }
    }
    std::vector<Time> last;
    for (const auto& each : ends)
    {
        last.push_back(each.back());
    }
    return last;
}

/** Whether every pipeline's blocks take longer with a slice than it crosses any stage, all busy. */
bool
BlocksAreSlowest(const std::vector<Pipeline>& pipelines, Routing& routing, double calls)
{
    if (std::any_of(pipelines.begin(), pipelines.end(), [](const Pipeline& each) {
            return each.block.IsInfinite();
        }))
    {
        return false;
    }
    Ticks ticks(pipelines, routing, calls);
    for (std::size_t stage = 0; stage < Stages(pipelines); ++stage)
    {
        ticks.Change(stage, 1);
    }
    return std::all_of(pipelines.begin(), pipelines.end(), [&](const Pipeline& each) {
        for (std::size_t stage = 0; stage < each.path.size(); ++stage)
        {
            if (ticks.Crossing(each, stage) > each.slice / each.block)
            {
                return false;
            }
        }
        return true;
    });
}

} // namespace

Time
PipelineTime(const std::vector<Pipeline>& pipelines, Routing& routing, double calls)
{
    if (pipelines.empty() || pipelines.front().path.empty())
    {
        return {};
    }
    const Pipeline& model = pipelines.front();
    const double wanted = std::max(1.0, model.bytes.ToDouble() / model.slice.ToDouble());
    const auto whole = static_cast<std::size_t>(std::min<double>(wanted, Stages(pipelines)));
    const auto base = Ends(pipelines, routing, whole, calls, true);
    const bool blocks = BlocksAreSlowest(pipelines, routing, calls);
    const auto some = blocks ? base : Ends(pipelines, routing, whole, calls, false);
    const auto more = blocks ? base : Ends(pipelines, routing, whole + 1, calls, false);
    Time longest;
    for (std::size_t p = 0; p < pipelines.size(); ++p)
    {
        const Time steady = blocks ? pipelines[p].slice / pipelines[p].block : more[p] - some[p];
        longest = std::max(longest, base[p] + steady * (wanted - static_cast<double>(whole)));
    }
    return longest;
}

} // namespace weir
