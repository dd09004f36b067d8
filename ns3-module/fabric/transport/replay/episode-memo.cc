// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/replay/episode-memo.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace weir
{

namespace
{

uint32_t
HashOf(uint32_t state, const EpisodeMemo::Start& start)
{
    const uint64_t edge = uint64_t{state} << 32 | start.facts;
    const auto time = static_cast<uint64_t>(start.time);
    return static_cast<uint32_t>(SplitMix64(SplitMix64(edge) ^ time));
}

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

EpisodeMemo::EpisodeMemo()
{
    m_states.emplace_back();
}

uint32_t
EpisodeMemo::Find(uint32_t state, const Start& start) const
{
    return m_edges.Find(HashOf(state, start), [&](uint32_t id) {
        return m_states[id].parent == state && m_states[id].start == start;
    });
}

uint32_t
EpisodeMemo::FindNear(uint32_t state, const Start& start, int64_t max) const
{
    uint32_t nearest = NONE;
    int64_t min = max;
    for (uint32_t child = m_states[state].firstChild; child != NONE;
         child = m_states[child].nextSibling)
    {
        const Start& known = m_states[child].start;
        const int64_t apart = std::abs(known.time - start.time);
        if (known.facts == start.facts && apart <= min)
        {
            nearest = child;
            min = apart;
        }
    }
    return nearest;
}

uint32_t
EpisodeMemo::Extend(uint32_t state, const Start& start)
{
    if (m_states.size() == MAX_STATES)
    {
        return NONE;
    }
    const auto added = static_cast<uint32_t>(m_states.size());
    m_states.emplace_back();
    m_states.back().parent = state;
    m_states.back().start = start;
    m_states.back().known = start.time;
    m_states.back().nextSibling = m_states[state].firstChild;
    m_states[state].firstChild = added;
    m_edges.Insert(HashOf(state, start), added);
    return added;
}

void
EpisodeMemo::Repeat(uint32_t state, Period period)
{
    m_states[state].period = static_cast<uint32_t>(m_periods.size());
    m_periods.push_back(std::move(period));
}

std::size_t
EpisodeMemo::FactsHash::operator()(const std::vector<int64_t>& facts) const
{
    uint64_t hash = facts.size();
    for (const int64_t fact : facts)
    {
        hash = SplitMix64(hash ^ static_cast<uint64_t>(fact));
    }
    return hash;
}

uint32_t
EpisodeMemo::NumberOf(const std::vector<int64_t>& facts)
{
    return m_numbers.try_emplace(facts, static_cast<uint32_t>(m_numbers.size())).first->second;
}

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
