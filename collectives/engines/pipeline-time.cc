// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/pipeline-time.h"

#include "collectives/schedule/message-split.h"
#include "fabric/routing/link-spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace weir
{

namespace
{

/** The loads of the hops of all stages on their routes when all stages are busy. */
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

/** The largest number of stages of a pipeline. */
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

/** Times of slices to cross a stage; consecutive equal times are one run. */
struct Crossings
{
    int64_t slices;
    Time time;
};

/** Times at which slices leave a stage; consecutive times in arithmetic progression are one run. */
struct Departures
{
    int64_t slices;
    Time first;
    Time step{};

    Time At(int64_t slice) const
    {
        return first + Time::Picoseconds(step.ToPicoseconds() * slice);
    }

    /** Appends @p other if it continues the progression. @return whether it did */
    bool Join(const Departures& other)
    {
        const Time gap = other.first - At(slices - 1);
        if ((slices > 1 && gap != step) || (other.slices > 1 && gap != other.step))
        {
            return false;
        }
        slices += other.slices;
        step = gap;
        return true;
    }
};

/** The loads of stages on links while they are busy. */
class StageLoads
{
  public:
    StageLoads(const std::vector<Pipeline>& pipelines, Routing& routing, double calls)
        : m_topology(routing.GetTopology()),
          m_shares(routing, [&pipelines] { return LoadsOfHops(pipelines); })
    {
        for (std::size_t stage = 0; stage < Stages(pipelines); ++stage)
        {
            for (const auto& pipeline : pipelines)
            {
                if (stage < pipeline.stages.size())
                {
                    AddStage(pipeline, stage, calls);
                }
            }
        }
    }

    /** Time of a slice over the path's hop in @p stage while all stages are busy. */
    Time FullCrossing(const Pipeline& pipeline, std::size_t stage) const
    {
        Rate rate = pipeline.cap;
        for (const LinkOfHop& link : LinksOf(pipeline, stage))
        {
            rate = std::min(rate, link.RateAt(link.loads->back().upToHere));
        }
        return pipeline.slice / rate;
    }

    /** Times of @p slices slices over the path's hop in @p stage, in order. */
    std::vector<Crossings> CrossingsOf(const Pipeline& pipeline,
                                       int64_t stage,
                                       int64_t slices) const
    {
        const auto links = LinksOf(pipeline, stage);
        std::vector<int64_t> changes{0, slices}; // first slices after a change of load
        for (const LinkOfHop& link : links)
        {
            for (const LoadOfStage& load : *link.loads)
            {
                for (const int64_t change : {load.stage - stage, load.stage - stage + slices})
                {
                    if (change > 0 && change < slices)
                    {
                        changes.push_back(change);
                    }
                }
            }
        }
        std::sort(changes.begin(), changes.end());
        std::vector<Crossings> crossings;
        for (std::size_t i = 0; i + 1 < changes.size(); ++i)
        {
            const int64_t tick = changes[i] + stage;
            Rate rate = pipeline.cap;
            for (const LinkOfHop& link : links)
            {
                rate = std::min(rate, link.RateAt(link.LoadOf(tick - slices + 1, tick)));
            }
            if (changes[i + 1] > changes[i])
            {
                crossings.push_back({changes[i + 1] - changes[i], pipeline.slice / rate});
            }
        }
        return crossings;
    }

  private:
    struct LoadOfStage
    {
        int64_t stage;
        double upToHere; //!< of all stages up to this one
    };

    struct LinkOfHop
    {
        Rate rate;
        double share;
        const std::vector<LoadOfStage>* loads;

        Rate RateAt(double load) const
        {
            return rate / std::max(load, share);
        }

        /** Load while the stages from @p first to @p last are busy. */
        double LoadOf(int64_t first, int64_t last) const
        {
            return UpTo(last) - UpTo(first - 1);
        }

        double UpTo(int64_t stage) const
        {
            const auto behind = std::upper_bound(
                loads->begin(), loads->end(), stage, [](int64_t value, const LoadOfStage& each) {
                    return value < each.stage;
                });
            return behind == loads->begin() ? 0 : (behind - 1)->upToHere;
        }
    };

    /** The links of a path's hop that limit it below the cap when all stages are busy. */
    std::vector<LinkOfHop> LinksOf(const Pipeline& pipeline, std::size_t stage) const
    {
        std::vector<LinkOfHop> links;
        m_shares.ForEach(pipeline.path[stage], [&](LinkId link, double share) {
            const LinkOfHop each{m_topology.GetLink(link).rate, share, &m_loads.at(link.Index())};
            if (each.RateAt(each.loads->back().upToHere) < pipeline.cap)
            {
                links.push_back(each);
            }
        });
        return links;
    }

    void AddStage(const Pipeline& pipeline, std::size_t stage, double calls)
    {
        for (const RouteId hop : pipeline.stages[stage])
        {
            m_shares.ForEach(hop, [&](LinkId link, double share) {
                auto& loads = m_loads[link.Index()];
                const double before = loads.empty() ? 0 : loads.back().upToHere;
                if (loads.empty() || loads.back().stage < static_cast<int64_t>(stage))
                {
                    loads.push_back({static_cast<int64_t>(stage), before});
                }
                loads.back().upToHere = before + share * pipeline.weight * calls;
            });
        }
    }

    const Topology& m_topology;
    ConcurrentShares m_shares;
    std::unordered_map<uint32_t, std::vector<LoadOfStage>> m_loads; //!< by link
};

/**
 * The departures of slices with @p arrivals at a stage and @p crossings over it, which keep its
 * thread block busy for @p busy each. O(runs of both).
 */
std::vector<Departures>
CrossStage(const std::vector<Departures>& arrivals,
           const std::vector<Crossings>& crossings,
           Time busy)
{
    std::vector<Departures> left;
    Time free; // when the stage takes the next slice
    const auto leave = [&](Time start, int64_t slices, Time step, const Crossings& crossing) {
        const Departures run{slices, start + crossing.time, step};
        if (left.empty() || !left.back().Join(run))
        {
            left.push_back(run);
        }
        free = Departures{slices, start, step}.At(slices - 1) + std::max(crossing.time, busy);
    };
    auto crossing = crossings.begin();
    int64_t crossed = 0; // slices of this run of crossings
    for (const Departures& run : arrivals)
    {
        for (int64_t slice = 0; slice < run.slices;)
        {
            const Time arrival = run.At(slice);
            const Time period = std::max(crossing->time, busy);
            int64_t slices = std::min(run.slices - slice, crossing->slices - crossed);
            if (free > arrival && run.step > period)
            {
                // Slices queue until those that arrive more slowly find the stage free.
                const int64_t gain = (run.step - period).ToPicoseconds();
                const int64_t behind = (free - arrival).ToPicoseconds();
                slices = std::min(slices, (behind + gain - 1) / gain);
                leave(free, slices, period, *crossing);
            }
            else
            {
                leave(std::max(free, arrival), slices, std::max(run.step, period), *crossing);
            }
            slice += slices;
            crossed += slices;
            if (crossed == crossing->slices)
            {
                ++crossing;
                crossed = 0;
            }
        }
    }
    return left;
}

/**
 * When the last of @p slices slices has crossed all stages; each keeps a stage's thread block busy
 * for @p busy.
 */
Time
EndOf(const Pipeline& pipeline, const StageLoads& loads, int64_t slices, Time busy)
{
    std::vector<Departures> left{{slices, Time()}};
    for (std::size_t stage = 0; stage < pipeline.path.size(); ++stage)
    {
        left = CrossStage(
            left, loads.CrossingsOf(pipeline, static_cast<int64_t>(stage), slices), busy);
    }
    return left.back().At(left.back().slices - 1);
}

/**
 * Whether every pipeline's thread blocks take at least as long for a slice as any stage's crossing
 * while all stages are busy.
 */
bool
BlocksAreSlowest(const std::vector<Pipeline>& pipelines, const StageLoads& loads)
{
    return std::all_of(pipelines.begin(), pipelines.end(), [&](const Pipeline& each) {
        for (std::size_t stage = 0; stage < each.path.size(); ++stage)
        {
            if (loads.FullCrossing(each, stage) > each.slice / each.block)
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
    const StageLoads loads(pipelines, routing, calls);
    const Pipeline& model = pipelines.front();
    const double wanted = std::max(1.0, model.bytes.ToDouble() / model.slice.ToDouble());
    const auto whole = static_cast<int64_t>(std::min<double>(wanted, Stages(pipelines)));
    const bool blocks = BlocksAreSlowest(pipelines, loads);
    Time longest;
    for (const Pipeline& each : pipelines)
    {
        const Time busy = each.slice / each.block;
        Time time = EndOf(each, loads, whole, busy);
        if (const double more = wanted - static_cast<double>(whole); more > 0)
        {
            const Time some = busy == Time() ? time : EndOf(each, loads, whole, Time());
            const Time steady = blocks ? busy : EndOf(each, loads, whole + 1, Time()) - some;
            time += steady * more;
        }
        longest = std::max(longest, time);
    }
    return longest;
}

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
