// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/idle-playback.h"

#include "collectives/engines/collective-engine.h"
#include "collectives/engines/flow-engine.h"
#include "fabric/transport/fluid/fluid-transport.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir
{

namespace
{

constexpr double STEADY = 1e-3; //!< relative difference below which periods are equal

/** Folds a schedule where folding is exact. */
FoldedSchedule
Folded(const Schedule& schedule, uint32_t ranks, Routing& routing)
{
    return routing.Policy().IsFixed() && routing.AreAllUsable()
               ? FoldSchedule(schedule, ranks, routing)
               : FoldedSchedule{schedule, ranks};
}

/**
 * Plays the first passes of each loop of a schedule, with concurrent calls on its links, and can be
 * repeated with more passes.
 */
class Passes
{
  public:
    Passes(const FoldedSchedule& folded, Planner& planner, double calls)
        : m_folded(folded),
          m_planner(planner),
          m_calls(calls)
    {
    }

    /** Time of @p count passes without the start latency. */
    Time Play(uint32_t count)
    {
        const Topology& topology = m_planner.GetRouting().GetTopology();
        FluidTransport transport(m_planner.GetRouting());
        for (std::size_t i = 0; m_calls != 1 && i < topology.LinkCount(); i++)
        {
            const LinkId link(i);
            transport.SetLinkRate(link, topology.GetLink(link).rate * (1 / m_calls), Time());
        }
        FlowEngine engine(m_planner, transport);
        EngineSet engines;
        engines.Add(transport);
        engines.Add(engine);
        EndTime end;
        const Schedule schedule = WithPasses(m_folded.schedule, count);
        engine.Start(schedule, m_folded.ranks, &end, Time());
        engines.RunToEnd();
        const Time before = std::exchange(
            m_time, end.Get().IsInfinite() ? end.Get() : end.Get() - schedule.startLatency);
        m_periodBefore = m_period;
        m_period = (m_time - before) * (1.0 / (count - m_count));
        m_count = count;
        return m_time;
    }

    /** Number of passes played last. */
    uint32_t Count() const
    {
        return m_count;
    }

    /**
     * Whether the period of the last passes equals that of the passes before. True for passes that
     * never end, as more of them tell nothing.
     */
    bool IsSteady() const
    {
        return m_time.IsInfinite() || std::abs(m_period / m_periodBefore - 1) <= STEADY;
    }

    /**
     * Time of @p count passes if the remaining ones take the last period each, and at least @p
     * minPeriod.
     */
    Time WithMore(uint32_t count, Time minPeriod) const
    {
        return m_time.IsInfinite() ? m_time
                                   : m_time + std::max(m_period, minPeriod) * (count - m_count);
    }

  private:
    const FoldedSchedule& m_folded;
    Planner& m_planner;
    double m_calls;
    uint32_t m_count{0};
    Time m_time;
    Time m_period;
    Time m_periodBefore;
};

uint32_t
MaxRepeats(const Schedule& schedule)
{
    uint32_t max = 0;
    for (const auto& [channel, copies] : schedule.channels)
    {
        for (const Loop& loop : channel.loops)
        {
            max = std::max(max, loop.repeat);
        }
    }
    return max;
}

} // namespace

IdlePlayback::IdlePlayback(const Schedule& schedule, uint32_t ranks, Planner& planner)
    : m_folded(Folded(schedule, ranks, planner.GetRouting())),
      m_planner(planner),
      m_repeats(MaxRepeats(m_folded.schedule))
{
}

std::optional<Time>
IdlePlayback::Duration(double calls, const Limits& limits) const
{
    constexpr uint32_t FEWEST = 2; //!< passes needed to measure a period
    const double max = limits.slices / SliceCount(WithPasses(m_folded.schedule, 1)); // passes
    Passes passes(m_folded, m_planner, calls);
    if (m_repeats <= std::min<double>(max, 2 * limits.passes))
    {
        return passes.Play(m_repeats);
    }
    const auto half = static_cast<uint32_t>(std::min<double>(max / 3, limits.passes));
    if (half < FEWEST)
    {
        return std::nullopt;
    }
    passes.Play(half);
    passes.Play(2 * half);
    // The next run would play twice as many passes as all so far; with these it must stay in the
    // limit.
    while (!passes.IsSteady() && 4 * passes.Count() <= max)
    {
        if (2 * passes.Count() >= m_repeats)
        {
            return passes.Play(m_repeats);
        }
        passes.Play(2 * passes.Count());
    }
    return passes.WithMore(m_repeats, limits.wire * (1.0 / m_repeats));
}

} // namespace weir
