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
EpisodeMemo::FindNear(uint32_t state, const Start& start, int64_t most) const
{
    uint32_t nearest = NONE;
    int64_t least = most;
    for (uint32_t child = m_states[state].firstChild; child != NONE;
         child = m_states[child].nextSibling)
    {
        const Start& known = m_states[child].start;
        const int64_t apart = std::abs(known.time - start.time);
        if (known.facts == start.facts && apart <= least)
        {
            nearest = child;
            least = apart;
        }
    }
    return nearest;
}

uint32_t
EpisodeMemo::Extend(uint32_t state, const Start& start)
{
    const uint32_t found = Find(state, start);
    if (found != NONE)
    {
        return found;
    }
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

uint32_t
EpisodeMemo::NumberOf(const std::vector<int64_t>& facts)
{
    uint64_t hash = facts.size();
    for (const int64_t fact : facts)
    {
        hash = SplitMix64(hash ^ static_cast<uint64_t>(fact));
    }
    const auto key = static_cast<uint32_t>(hash);
    const uint32_t found = m_factIndex.Find(key, [&](uint32_t number) {
        const std::size_t begin = number == 0 ? 0 : m_ends[number - 1];
        return m_ends[number] - begin == facts.size() &&
               std::equal(facts.begin(),
                          facts.end(),
                          m_facts.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    if (found != InternIndex::NONE)
    {
        return found;
    }
    const auto number = static_cast<uint32_t>(m_ends.size());
    m_facts.insert(m_facts.end(), facts.begin(), facts.end());
    m_ends.push_back(m_facts.size());
    m_factIndex.Insert(key, number);
    return number;
}

} // namespace weir
