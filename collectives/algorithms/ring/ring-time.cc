// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/ring/ring-time.h"

#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <unordered_map>

namespace weir
{

namespace
{

/** The time of one round of a ring. */
class RoundTime
{
  public:
    RoundTime(const RingRounds& ring,
              const RingRounds::Round& round,
              const std::vector<Rate>& shares)
        : m_ring(ring),
          m_round(round)
    {
        for (std::size_t h = 0; h < shares.size(); ++h)
        {
            m_moves.push_back(round.slice / shares[h]);
            const RingRounds::Hop& hop = ring.hops[h];
            m_crossings.push_back(m_moves[h] + hop.latency);
            m_wires.push_back(
                std::max({m_moves[h] + hop.pause, hop.interval, BusyTime(hop.pause)}));
        }
        m_slowest = *std::max_element(m_wires.begin(), m_wires.end());
        FindPeriod();
        const auto [fastest, slowest] = std::minmax_element(m_crossings.begin(), m_crossings.end());
        m_apart = *slowest - *fastest;
    }

    /** Time of a round that another one follows. */
    Time Period() const
    {
        return m_period;
    }

    /** Whether chunks that wait for their arrival set the pace, not a wire or a block. */
    bool IsPathLimited() const
    {
        return m_isPathLimited;
    }

    /** Time of the last round. */
    Time Last() const
    {
        // Crossing the hops from the g-th to the h-th and waiting at all others takes waits + at[h]
        // - at[g], where at[h] = crossings up to hop h + waits for all hops behind it.
        const std::size_t n = m_moves.size();
        const std::size_t hops = n + m_ring.steps;
        const Time wait = m_slowest * m_round.slices;
        const Time waits = Wire() + Behind();
        std::vector<Time> at{wait * static_cast<double>(hops)};
        std::size_t first = 0;          // path starts before this one cross the slowest hop
        std::deque<std::size_t> minima; // starts in reach, with ascending at
        Time longest;
        for (std::size_t h = 1; h <= hops; ++h)
        {
            at.push_back(at.back() + Crossing((h - 1) % n) - wait);
            for (; m_wires[(h - 1) % n] == m_slowest && first < h; ++first)
            {
                while (!minima.empty() && at[minima.back()] >= at[first])
                {
                    minima.pop_back();
                }
                minima.push_back(first);
            }
            while (!minima.empty() && minima.front() + m_ring.steps < h)
            {
                minima.pop_front();
            }
            if (!minima.empty())
            {
                longest = std::max(longest, waits + at[h] - at[minima.front()]);
            }
        }
        return longest + AfterLast();
    }

    /** Time of a slice over a hop until its use. */
    Time Crossing(std::size_t hop) const
    {
        return m_crossings[hop];
    }

    Time SlowestCrossing() const
    {
        return *std::max_element(m_crossings.begin(), m_crossings.end());
    }

    /** The fraction of time that a hop is busy, in rounds that follow each other. */
    double BusyPart(std::size_t hop) const
    {
        return std::min(1.0, m_moves[hop] * m_round.slices * m_ring.steps / m_period);
    }

    /**
     * The fraction of a chunk's time on @p hop that overlaps with one offset by the difference of
     * hops.
     */
    double Overlap(std::size_t hop) const
    {
        return std::max(0.0, 1 - m_apart / (m_moves[hop] * m_round.slices));
    }

  private:
    void FindPeriod()
    {
        const Time last = LastTime();
        Time pause;
        for (std::size_t h = 0; h < m_wires.size(); ++h)
        {
            const std::size_t before = Before(h);
            const Time ahead = (m_slowest - m_wires[before]) * m_round.slices;
            // Over the network the last slice has crossed when its wire is free, which may be
            // before its sender's block is.
            const Time excess = Stores(before) ? Time() : m_wires[before] - m_moves[before];
            const Time early = excess + ahead;
            const Time crossed = m_ring.hops[before].latency + last;
            const bool isOfBlock =
                m_slowest > std::max(m_moves[h] + m_ring.hops[h].pause, m_ring.hops[h].interval);
            if (m_wires[h] == m_slowest)
            {
                pause = std::max({pause, isOfBlock ? last : Time(), crossed - early, LastOf(h)});
            }
        }
        const Time wire = Wire() + pause;
        const Time path = AveragePathTime() + last;
        m_isPathLimited = path > wire;
        m_period = std::max(wire, path);
    }

    /** How long a round's last slice keeps its block busy. */
    Time LastTime() const
    {
        return m_ring.block.Of(m_ring.last, m_round.slice);
    }

    /** Time of a round's last chunk in a block that has stored everything before on @p hop. */
    Time LastOf(std::size_t hop) const
    {
        return Stores(hop) ? LastTime() * m_round.slices : Time();
    }

    /**
     * Time from the last slice's arrival until all blocks are done. Blocks that store have stored
     * everything a latency before, and earlier by the lead that they have over the slowest hop.
     */
    Time AfterLast() const
    {
        Time after = LastTime();
        for (std::size_t h = 0; h < m_moves.size(); ++h)
        {
            const Time ahead = (m_slowest - m_wires[h]) * m_round.slices;
            after = std::max(after, LastOf(h) - m_ring.hops[Before(h)].latency - ahead);
        }
        return after;
    }

    std::size_t Before(std::size_t hop) const
    {
        return hop == 0 ? m_moves.size() - 1 : hop - 1;
    }

    /** Whether a thread block is the wire of @p hop, as its stores move the bytes. */
    bool Stores(std::size_t hop) const
    {
        return m_ring.hops[hop].pause > Time();
    }

    /**
     * How long a slice keeps a block busy that pauses for @p pause after each slice. This is the
     * average over a round's sends, which copy in an all-gather, reduce in a reduce-scatter, and do
     * both in an all-reduce. Over the network the first send receives nothing and takes less.
     */
    Time BusyTime(Time pause) const
    {
        const auto of = [&](PrimitiveKind kind) {
            return m_ring.block.Of(kind, m_round.slice, pause);
        };
        const bool gathers = m_ring.last == PrimitiveKind::Recv;
        const Time copy = of(PrimitiveKind::RecvCopySend);
        const Time reduce = of(PrimitiveKind::RecvReduceSend);
        const bool allReduce = gathers && m_ring.steps >= m_ring.hops.size();
        const Time passes = allReduce ? (copy + reduce) * 0.5 : gathers ? copy : reduce;
        const double first = pause > Time() ? 0 : 1.0 / m_ring.steps;
        return of(PrimitiveKind::Send) * first + passes * (1 - first);
    }

    Time Wire() const
    {
        return m_slowest * m_round.slices * m_ring.steps;
    }

    Time Behind() const
    {
        return m_slowest * (m_round.slices - 1);
    }

    Time AveragePathTime() const
    {
        const Time round = std::accumulate(m_crossings.begin(), m_crossings.end(), Time());
        return round * (static_cast<double>(m_ring.steps) / m_wires.size()) + Behind();
    }

    const RingRounds& m_ring;
    const RingRounds::Round& m_round;
    std::vector<Time> m_moves;     //!< by hop: time of one slice
    std::vector<Time> m_crossings; //!< by hop: time of one slice until its use
    std::vector<Time> m_wires;     //!< by hop: period of slices
    Time m_slowest;                //!< the maximum of m_wires
    Time m_period;                 //!< of a round that another one follows
    bool m_isPathLimited{false};
    Time m_apart; //!< time of the slowest crossing minus that of the fastest
};

/** The rates of hops that share links in one round of all rings. */
class RoundShares
{
  public:
    RoundShares(const std::vector<RingRounds>& rings,
                std::size_t round,
                const UncontendedRates& rates,
                double calls)
        : m_rings(rings),
          m_round(round),
          m_rates(rates),
          m_calls(calls)
    {
        for (const auto& ring : rings)
        {
            m_shares.emplace_back();
            for (const auto& hop : ring.hops)
            {
                m_shares.back().push_back(rates.ShareOn(hop.route, ring.cap).rate);
            }
        }
        if (FindSharedLinks())
        {
            FindLockstepHops();
            Iterate();
        }
    }

    const std::vector<Rate>& Of(std::size_t ring) const
    {
        return m_shares[ring];
    }

  private:
    using LoadByKey = std::unordered_map<uint64_t, double>;

    /**
     * Rate of @p link for a unit of weight, with all load of one of the @p calls calls on it, or
     * only that of the hop if the calls do not load it.
     */
    Rate LevelOf(LinkId link, double share, double calls) const
    {
        const double load = m_rates.LoadOn(link) / calls;
        return m_rates.RateOf(link) / (load > 0 ? load : share);
    }

    /**
     * Finds the links that limit hops below their cap even with one call, and their loads. @return
     * whether several hops share one of them
     */
    bool FindSharedLinks()
    {
        ForEachShare([&](std::size_t r, std::size_t, LinkId link, double share) {
            if (LevelOf(link, share, m_calls) < m_rings[r].cap)
            {
                m_hopsOn[link.Index()] = 0;
            }
        });
        bool found = false;
        ForEachOnShared([&](std::size_t r, std::size_t, LinkId link, double share) {
            double& hops = m_hopsOn[link.Index()]; // equal channels counted once
            hops += share;
            m_all[link.Index()] += share * m_rings[r].weight;
            found = found || hops > share;
        });
        return found;
    }

    /** By ring and hop: its rate on all other links. */
    std::vector<std::vector<Rate>> SharesOfOtherLinks() const
    {
        std::vector<std::vector<Rate>> shares;
        for (const auto& ring : m_rings)
        {
            shares.emplace_back(ring.hops.size(), ring.cap);
        }
        ForEachShare([&](std::size_t r, std::size_t h, LinkId link, double share) {
            Rate& rate = shares[r][h];
            const bool isShared = m_hopsOn.count(link.Index()) > 0;
            rate = isShared ? rate : std::min(rate, LevelOf(link, share, 1));
        });
        return shares;
    }

    /** Calls @p use(ring, hop, link, share) for all links of all hops. */
    template <typename Use>
    void ForEachShare(const Use& use) const
    {
        for (std::size_t r = 0; r < m_rings.size(); ++r)
        {
            for (std::size_t h = 0; h < m_rings[r].hops.size(); ++h)
            {
                m_rates.ForEachShare(m_rings[r].hops[h].route,
                                     [&](LinkId link, double share) { use(r, h, link, share); });
            }
        }
    }

    /** As above, for the links that FindSharedLinks has found. */
    template <typename Use>
    void ForEachOnShared(const Use& use) const
    {
        ForEachShare([&](std::size_t r, std::size_t h, LinkId link, double share) {
            if (m_hopsOn.count(link.Index()) > 0)
            {
                use(r, h, link, share);
            }
        });
    }

    RoundTime TimeOf(std::size_t ring) const
    {
        return {m_rings[ring], m_rings[ring].rounds[m_round], m_shares[ring]};
    }

    /** Numbers rings by their period, and hops by their distance behind the slowest hop. */
    void FindLockstepHops()
    {
        std::map<Time, uint32_t> paces;
        for (std::size_t r = 0; r < m_rings.size(); ++r)
        {
            const RoundTime time = TimeOf(r);
            const std::size_t n = m_rings[r].hops.size();
            m_pace.push_back(
                paces.emplace(time.Period(), static_cast<uint32_t>(paces.size())).first->second);
            m_behind.emplace_back(n);
            const Time slowest = time.SlowestCrossing();
            uint32_t behind = 0;
            std::size_t slowHops = 0;
            for (std::size_t i = 0; i < 2 * n; ++i) // the first of two rounds finds the slowest hop
            {
                slowHops += time.Crossing(i % n) == slowest ? 1 : 0;
                behind = time.Crossing(i % n) == slowest ? 0 : behind + 1;
                m_behind[r][i % n] = behind;
            }
            m_spacing.push_back(2.0 * n / slowHops);
            m_isPathLimited.push_back(time.IsPathLimited());
        }
    }

    /** A hop on a link, as those of equally fast rings find it. */
    struct Offset
    {
        uint32_t behind;
        double load; //!< that others find less of, the longer they are apart
    };

    /** Key of the hops of one pace on a link. */
    static uint64_t Key(LinkId link, uint32_t pace)
    {
        return uint64_t{link.Index()} << 32 | pace;
    }

    /**
     * The fraction of all steps of a round and its repetitions in which two hops of equally fast
     * rings are in lockstep that are @p behind and @p other hops behind their slowest hop. Before
     * the second round of the call all have been apart.
     */
    double InLockstep(std::size_t ring, uint32_t behind, uint32_t other) const
    {
        if (behind == other || m_round > 0 || !m_isPathLimited[ring])
        {
            return behind == other ? 1 : 0;
        }
        const double apart = behind > other ? behind - other : other - behind;
        const RingRounds::Round& round = m_rings[ring].rounds[m_round];
        const double passes = 1.0 * round.repeat * m_rings[ring].steps / m_spacing[ring];
        return std::max(0.0, 1 - apart / m_spacing[ring]) / std::max(1.0, passes);
    }

    /**
     * Updates the loads of links by the busy fractions of hops, then the rates of hops by the loads
     * that they find. @return whether a rate changed by more than 1e-5 of its value
     */
    bool Step()
    {
        LoadByKey any;  // by link: load of any hop
        LoadByKey pace; // additional load for hops of equally fast rings, were all in lockstep
        std::unordered_map<uint64_t, std::vector<Offset>> offsets;
        std::vector<RoundTime> times;
        for (std::size_t r = 0; r < m_rings.size(); ++r)
        {
            times.push_back(TimeOf(r));
        }
        ForEachOnShared([&](std::size_t r, std::size_t h, LinkId link, double share) {
            const double load = share * m_rings[r].weight;
            const double busy = times[r].BusyPart(h);
            const double beside = std::max(busy, times[r].Overlap(h));
            any[link.Index()] += load * busy;
            pace[Key(link, m_pace[r])] += load * (1 - busy);
            offsets[Key(link, m_pace[r])].push_back({m_behind[r][h], load * (1 - beside)});
        });
        bool changes = false;
        std::vector<std::vector<Rate>> next = m_maxRates;
        ForEachOnShared([&](std::size_t r, std::size_t h, LinkId link, double) {
            const uint64_t key = Key(link, m_pace[r]);
            double found = any[link.Index()] + pace[key];
            for (const Offset& each : offsets[key])
            {
                found -= each.load * (1 - InLockstep(r, m_behind[r][h], each.behind));
            }
            const double part = (found / m_all.at(link.Index()) + m_calls - 1) / m_calls;
            const double load = std::max(m_rates.LoadOn(link) * std::min(1.0, part), 1e-12);
            next[r][h] = std::min(next[r][h], m_rates.RateOf(link) / load);
        });
        for (std::size_t r = 0; r < m_rings.size(); ++r)
        {
            for (std::size_t h = 0; h < next[r].size(); ++h)
            {
                // Not slower than under full load: a hop may cross links that the legs do not
                // count.
                const Rate share = std::max(next[r][h], m_full[r][h]);
                changes = changes || std::abs(share / m_shares[r][h] - 1) > 1e-5;
                m_shares[r][h] = share;
            }
        }
        return changes;
    }

    void Iterate()
    {
        constexpr int MAX_ITERATIONS = 50;
        m_full = m_shares;
        m_maxRates = SharesOfOtherLinks();
        for (int i = 0; i < MAX_ITERATIONS && Step(); ++i)
        {
        }
    }

    const std::vector<RingRounds>& m_rings;
    std::size_t m_round;
    const UncontendedRates& m_rates;
    double m_calls;
    std::vector<std::vector<Rate>> m_shares;     //!< by ring and hop
    std::vector<std::vector<Rate>> m_full;       //!< as above, with all hops busy
    std::vector<std::vector<Rate>> m_maxRates;   //!< as above, without the links that hops share
    LoadByKey m_hopsOn;                          //!< by link that limits hops: number of hops
    LoadByKey m_all;                             //!< by link: load of all hops
    std::vector<uint32_t> m_pace;                //!< by ring: number of its period
    std::vector<std::vector<uint32_t>> m_behind; //!< by ring and hop: hops behind the slowest one
    std::vector<bool> m_isPathLimited;           //!< by ring, with all hops busy
    std::vector<double> m_spacing; //!< by ring: mean number of hops between slowest ones
};

} // namespace

Time
RingsTime(const std::vector<RingRounds>& rings, const UncontendedRates& rates, double calls)
{
    std::vector<Time> sums(rings.size());
    const std::size_t rounds = rings.front().rounds.size();
    for (std::size_t i = 0; i < rounds; ++i)
    {
        const RoundShares shares(rings, i, rates, calls);
        const bool isLast = i + 1 == rounds;
        for (std::size_t r = 0; r < rings.size(); ++r)
        {
            const RingRounds::Round& round = rings[r].rounds[i];
            const RoundTime time(rings[r], round, shares.Of(r));
            sums[r] += time.Period() * (round.repeat - (isLast ? 1 : 0));
            sums[r] += isLast ? time.Last() : Time();
        }
    }
    return *std::max_element(sums.begin(), sums.end());
}

} // namespace weir
