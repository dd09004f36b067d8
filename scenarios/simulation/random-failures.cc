// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/random-failures.h"

#include "fabric/routing/flow-hash.h"
#include "scenarios/bound/random-draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir
{

RandomFailures::RandomFailures(
    std::vector<Wire> wires, Time start, Time up, Time down, uint64_t seed)
    : m_up(up),
      m_down(down),
      m_seed(seed)
{
    for (Wire& wire : wires)
    {
        State state;
        state.wire = std::move(wire);
        state.next = start + Span(m_states.size(), state);
        m_states.push_back(std::move(state));
    }
}

Time
RandomFailures::Span(std::size_t index, const State& state) const
{
    RandomDraws draws(m_seed ^ SplitMix64(index), state.changes);
    const double mean = (state.isUp ? m_up : m_down).ToSeconds();
    return std::max(Time::Picoseconds(1), Time::Seconds(-mean * std::log1p(-draws.Unit())));
}

Time
RandomFailures::NextEventTime() const
{
    Time next = Time::Infinite();
    for (const State& state : m_states)
    {
        next = std::min(next, state.next);
    }
    return next;
}

void
RandomFailures::AdvanceTo(Time now, Transport& transport)
{
    for (std::size_t i = 0; i < m_states.size(); i++)
    {
        State& state = m_states[i];
        while (state.next <= now)
        {
            state.isUp = !state.isUp;
            state.changes++;
            transport.SetLinksUp(state.wire, state.isUp, now);
            state.next = state.next + Span(i, state);
        }
    }
}

} // namespace weir
