// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/schedule-time.h"

#include "collectives/engines/end-time.h"
#include "collectives/engines/flow-engine.h"
#include "collectives/schedule/folded-schedule.h"
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/** Blocks that share links may drift apart over tens of passes, to where they share them better. */
constexpr uint32_t FEW_PASSES = 32;
constexpr double STEADY = 1e-3; //!< periods that differ by less than this part are the same

constexpr double MAX_PLAYED = 0x1p19; //!< slices of TimeByFirstPasses: a few seconds' work

/** What is alike is one where that is proved. */
FoldedSchedule
Folded(const PlayedSchedule& played)
{
    Routing& routing = played.planner.GetRouting();
    return routing.Policy().IsFixed() && routing.AreAllUsable()
               ? FoldAlike(played.schedule, played.ranks, routing)
               : FoldedSchedule{played.schedule, played.ranks};
}

/** Without the start latency, of the first @p passes of each loop, beside other calls. */
Time
Play(const FoldedSchedule& folded, Planner& planner, uint32_t passes, double calls = 1)
{
    const Topology& topology = planner.GetRouting().GetTopology();
    FluidTransport transport(planner.GetRouting());
    for (std::size_t i = 0; calls != 1 && i < topology.LinkCount(); i++)
    {
        const LinkId link(i);
        transport.SetLinkRate(link, topology.GetLink(link).rate * (1 / calls), Time());
    }
    FlowEngine engine(planner, transport);
    EngineSet engines;
    engines.Add(transport);
    engines.Add(engine);
    EndTime end;
    const Schedule schedule = WithPasses(folded.schedule, passes);
    engine.Start(schedule, folded.ranks, &end, Time());
    engines.RunToEnd();
    return end.Get().IsInfinite() ? end.Get() : end.Get() - schedule.startLatency;
}

uint32_t
MostRepeats(const Schedule& schedule)
{
    uint32_t most = 0;
    for (const auto& [channel, copies] : schedule.channels)
    {
        for (const Loop& loop : channel.loops)
        {
            most = std::max(most, loop.repeat);
        }
    }
    return most;
}

} // namespace

Time
ScheduleTime(const PlayedSchedule& played, double calls)
{
    const uint32_t repeats = MostRepeats(played.schedule);
    const FoldedSchedule folded = Folded(played);
    Time before;
    Time periodBefore;
    for (uint32_t passes = FEW_PASSES; passes < repeats; passes *= 2)
    {
        const Time end = Play(folded, played.planner, passes, calls);
        if (end.IsInfinite())
        {
            return end;
        }
        const Time period = (end - before) * (2.0 / passes);
        if (std::abs(period / periodBefore - 1) <= STEADY)
        {
            return end + period * (repeats - passes);
        }
        before = end;
        periodBefore = period;
    }
    return Play(folded, played.planner, repeats, calls);
}

std::optional<Time>
TimeByFirstPasses(const PlayedSchedule& played, uint32_t levels, Time wire)
{
    constexpr uint32_t FEWEST = 2; //!< passes that have a period
    const uint32_t repeats = MostRepeats(played.schedule);
    const FoldedSchedule folded = Folded(played);
    const auto play = [&](uint32_t passes) { return Play(folded, played.planner, passes); };
    const double pass = SliceCount(WithPasses(folded.schedule, 1));
    const double most = MAX_PLAYED / pass; // passes
    if (repeats <= std::min<double>(most, 2 * levels))
    {
        return play(repeats);
    }
    const auto half = static_cast<uint32_t>(std::min<double>(most / 3, levels));
    if (half < FEWEST)
    {
        return std::nullopt;
    }
    const Time before = play(half);
    const Time end = play(2 * half);
    if (end.IsInfinite())
    {
        return end;
    }
    const Time period = std::max((end - before) * (1.0 / half), wire * (1.0 / repeats));
    return end + period * (repeats - 2 * half);
}

} // namespace weir
