// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/recurrence.h"

#include <algorithm>

namespace weir
{

namespace
{

/** Whether two states have equal notifications, @p flows flows and @p time ps apart. */
bool
AreTold(const EpisodeMemo::State& late,
        const EpisodeMemo::State& early,
        uint32_t flows,
        int64_t time)
{
    return std::equal(late.told.begin(),
                      late.told.end(),
                      early.told.begin(),
                      early.told.end(),
                      [=](const EpisodeMemo::Told& a, const EpisodeMemo::Told& b) {
                          return a.time == b.time + time && a.flow == b.flow + flows &&
                                 a.isDone == b.isDone && a.counters == b.counters;
                      });
}

/**
 * Whether the last @p flows starts up to @p late, with their notifications, equal those up to @p
 * early.
 * @param spare budget, reduced by the comparisons made
 */
bool
IsRepeated(const EpisodeMemo& memo, uint32_t late, uint32_t early, uint32_t flows, int64_t& spare)
{
    const int64_t time = memo.At(late).start.time - memo.At(early).start.time;
    for (uint32_t i = 0; i < flows; i++)
    {
        spare--;
        const EpisodeMemo::State& a = memo.At(late);
        const EpisodeMemo::State& b = memo.At(early);
        if (early == EpisodeMemo::ROOT || a.start.facts != b.start.facts ||
            a.start.time != b.start.time + time ||
            !AreTold(memo.At(a.parent), memo.At(b.parent), flows, time))
        {
            return false;
        }
        late = a.parent;
        early = b.parent;
    }
    return true;
}

} // namespace

void
Recurrence::Note(const EpisodeMemo& memo, uint32_t state, uint32_t flows)
{
    const auto number = static_cast<uint32_t>(m_flows.size());
    const auto [last, isFirst] = m_last.emplace(memo.At(state).start.facts, number);
    m_flows.push_back({state, isFirst ? EpisodeMemo::NONE : last->second});
    last->second = number;
    constexpr int64_t COMPARED = 32; // per flow: a few tries, mostly rejected early
    m_spare += COMPARED;
    m_started = flows;
}

uint32_t
Recurrence::Find(const EpisodeMemo& memo, uint32_t open)
{
    constexpr int MAX_TRIES = 8; // candidates: flows with equal facts in one period
    const auto last = static_cast<uint32_t>(m_flows.size() - 1);
    uint32_t earlier = m_flows[last].earlier;
    for (int i = 0; i < MAX_TRIES && earlier != EpisodeMemo::NONE && m_spare >= 0; i++)
    {
        const uint32_t flows = last - earlier;
        if (open + 2 * flows >= m_started &&
            IsRepeated(memo, m_flows[last].state, m_flows[earlier].state, flows, m_spare))
        {
            return flows;
        }
        earlier = m_flows[earlier].earlier;
    }
    m_period = 0;
    return 0;
}

std::optional<std::vector<PortCounters>>
Recurrence::Confirm(uint32_t flows, Standing standing)
{
    const bool isPeriod = flows == m_period && standing.flows == m_marked.flows + flows;
    const bool isAlike = isPeriod && standing.levels == m_marked.levels;
    std::vector<PortCounters> done;
    for (std::size_t i = 0; isAlike && i < standing.counters.size(); i++)
    {
        done.push_back(standing.counters[i]);
        done.back() -= m_marked.counters[i];
    }
    m_period = flows;
    m_marked = std::move(standing);
    return isAlike ? std::optional(std::move(done)) : std::nullopt;
}

} // namespace weir
