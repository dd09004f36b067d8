// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/ring/ring-time.h"

#include "collectives/engines/closed-form.h"

#include <algorithm>

namespace weir
{

namespace
{

/** One round of a ring over its hops. */
class RoundTime
{
  public:
    RoundTime(const RingRounds& ring,
              const RingRounds::Round& round,
              const std::vector<Rate>& shares)
        : m_ring(ring),
          m_round(round)
    {
        const Time block = BusyTime();
        for (std::size_t h = 0; h < shares.size(); ++h)
        {
            m_moves.push_back(round.slice / shares[h]);
            m_wires.push_back(
                std::max({m_moves[h] + ring.hops[h].pause, ring.hops[h].interval, block}));
        }
        m_slowest = *std::max_element(m_wires.begin(), m_wires.end());
    }

    /** When another round follows. */
    Time Period() const
    {
        const Time last = m_ring.block.Of(m_ring.last, m_round.slice);
        Time pause;
        for (std::size_t h = 0; h < m_wires.size(); ++h)
        {
            const std::size_t before = h == 0 ? m_wires.size() - 1 : h - 1;
            const Time ahead = (m_slowest - m_wires[before]) * m_round.slices;
            if (m_wires[h] == m_slowest && ahead < m_ring.hops[before].latency + last)
            {
                pause = std::max(pause, m_ring.hops[before].latency + last - ahead);
            }
        }
        return std::max(Wire() + pause, AverageWay() + last);
    }

    /** When none does. */
    Time Last() const
    {
        Time arrival; // of the last slice, after the one before it
        for (std::size_t h = 0; h < m_wires.size(); ++h)
        {
            arrival = std::max(arrival, m_wires[h] == m_slowest ? Crossing(h) : Time());
        }
        return std::max(Wire() - m_slowest + arrival, WorstWay());
    }

  private:
    /** What a slice keeps a block busy for, on the average of the two halves of an all-reduce. */
    Time BusyTime() const
    {
        const auto of = [&](PrimitiveKind kind) { return m_ring.block.Of(kind, m_round.slice); };
        const bool gathers = m_ring.last == PrimitiveKind::Recv;
        const Time copy = of(PrimitiveKind::RecvCopySend);
        const Time reduce = of(PrimitiveKind::RecvReduceSend);
        const bool allReduce = gathers && m_ring.steps >= m_ring.hops.size();
        return allReduce ? (copy + reduce) * 0.5 : gathers ? copy : reduce;
    }

    Time Wire() const
    {
        return m_slowest * m_round.slices * m_ring.steps;
    }

    Time Behind() const
    {
        return m_slowest * (m_round.slices - 1);
    }

    Time Crossing(std::size_t hop) const
    {
        return m_moves[hop] + m_ring.hops[hop].latency;
    }

    Time AverageWay() const
    {
        Time round;
        for (std::size_t h = 0; h < m_wires.size(); ++h)
        {
            round += Crossing(h);
        }
        return round * (static_cast<double>(m_ring.steps) / m_wires.size()) + Behind();
    }

    Time WorstWay() const
    {
        const std::size_t n = m_wires.size();
        Time way;
        for (std::size_t step = 0; step < m_ring.steps; ++step)
        {
            way += Crossing(step % n);
        }
        Time worst = way;
        for (std::size_t first = 0; first + 1 < n; ++first)
        {
            way = way - Crossing(first) + Crossing((first + m_ring.steps) % n);
            worst = std::max(worst, way);
        }
        return worst + Behind();
    }

    const RingRounds& m_ring;
    const RingRounds::Round& m_round;
    std::vector<Time> m_moves; //!< by hop: of one slice
    std::vector<Time> m_wires; //!< by hop: between one slice and the next
    Time m_slowest;            //!< of m_wires
};

} // namespace

Time
RingTime(const RingRounds& ring, const AloneRates& rates)
{
    std::vector<Rate> shares;
    for (const auto& hop : ring.hops)
    {
        shares.push_back(rates.ShareOn(hop.route, ring.cap).rate);
    }
    Time sum;
    for (std::size_t i = 0; i < ring.rounds.size(); ++i)
    {
        const RingRounds::Round& round = ring.rounds[i];
        const RoundTime time(ring, round, shares);
        const bool isLast = i + 1 == ring.rounds.size();
        sum += time.Period() * (round.repeat - (isLast ? 1 : 0));
        sum += isLast ? time.Last() : Time();
    }
    return sum;
}

} // namespace weir
