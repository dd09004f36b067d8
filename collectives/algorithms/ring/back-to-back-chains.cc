// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/ring/back-to-back-chains.h"

#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>

namespace weir
{

namespace
{

constexpr uint32_t ROUNDS = 16;  //!< maximum number of estimates of the hops' windows
constexpr double SETTLED = 1e-4; //!< relative change of an estimate that ends them
constexpr double STEADY = 2e-2;  //!< relative difference up to which two periods let windows recur
constexpr double SAME = 1e-6;    //!< relative difference below which two periods are equal

/** The time in which a hop of a chain carries the slices of a call; it recurs with the period. */
struct HopWindow
{
    Time first;     //!< the first slice can leave
    Time last;      //!< the last slice has left
    double duty{1}; //!< fraction of this time in which slices occupy the route
};

using ChainWindows = std::vector<std::vector<HopWindow>>; //!< by chain, then hop

/** The rates of hops beside all hops that cross the same links. */
class HopRates
{
  public:
    HopRates(const BackToBackChains& backToBack, const UncontendedRates& rates)
        : m_backToBack(backToBack),
          m_rates(rates)
    {
        for (std::size_t chain = 0; chain < backToBack.chains.size(); ++chain)
        {
            const auto& hops = backToBack.chains[chain].hops;
            for (std::size_t position = 0; position < hops.size(); ++position)
            {
                rates.ForEachShare(hops[position].connection.route, [&](LinkId link, double share) {
                    m_loads[link.Index()].push_back(
                        {chain, position, share * backToBack.chains[chain].weight});
                });
            }
        }
    }

    /**
     * Mean rate of a channel over a hop. Others load its links for the fraction max(0, 1 - q / K)
     * of its time, with q their distance in positions and K the number of slices.
     */
    Rate FirstGuess(std::size_t chain, std::size_t position) const
    {
        const double slices =
            std::max(1.0, m_backToBack.bytes.ToDouble() / m_backToBack.slice.ToDouble());
        Rate rate = m_backToBack.cap;
        m_rates.ForEachShare(RouteOf(chain, position), [&](LinkId link, double share) {
            double load = 0;
            for (const Load& each : m_loads.at(link.Index()))
            {
                const auto apart = static_cast<double>(
                    each.position > position ? each.position - position : position - each.position);
                load += each.load * std::max(0.0, 1 - apart / slices);
            }
            rate = std::min(rate, m_rates.RateOf(link) / std::max(load, share));
        });
        return rate;
    }

    /** Mean rate of a channel over a hop whose window overlaps those of others. */
    Rate Mean(std::size_t chain,
              std::size_t position,
              const ChainWindows& windows,
              Time period) const
    {
        const HopWindow& own = windows[chain][position];
        const double length = (own.last - own.first).ToSeconds();
        const double whole = period.ToSeconds();
        std::vector<Contended> links;
        std::vector<Change> changes;
        m_rates.ForEachShare(RouteOf(chain, position), [&](LinkId link, double share) {
            const std::size_t index = links.size();
            links.push_back({m_rates.RateOf(link).ToBytesPerSecond(), share});
            double load = 0;
            const auto add = [&](double from, double to, double each) {
                if (from <= 0 && to >= length)
                {
                    load += each;
                }
                else if (std::max(from, 0.0) < std::min(to, length))
                {
                    changes.push_back({std::max(from, 0.0), index, each});
                    changes.push_back({std::min(to, length), index, -each});
                }
            };
            for (const Load& each : m_loads.at(link.Index()))
            {
                const HopWindow& other = windows[each.chain][each.position];
                const double lasts = (other.last - other.first).ToSeconds();
                double begin = std::fmod((other.first - own.first).ToSeconds(), whole);
                begin -= begin > 0 ? whole : 0;
                for (; begin < length; begin += whole)
                {
                    add(begin, begin + lasts, each.load * other.duty);
                }
            }
            links.back().load = std::max(load, share);
        });
        if (changes.empty())
        {
            return RateBeside(links);
        }
        std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
            return a.at < b.at;
        });
        double carried = 0; // bytes
        double at = 0;
        for (const Change& change : changes)
        {
            carried += (change.at - at) * RateBeside(links).ToBytesPerSecond();
            at = change.at;
            links[change.link].load += change.load;
        }
        carried += (length - at) * RateBeside(links).ToBytesPerSecond();
        return Rate::BytesPerSecond(carried / length);
    }

  private:
    struct Load
    {
        std::size_t chain;
        std::size_t position;
        double load;
    };

    struct Contended
    {
        double rate; //!< of the link, B/s
        double load; //!< present, in units of weight
    };

    /** A load on one of a hop's links that begins or ends. */
    struct Change
    {
        double at; //!< seconds after the begin of the hop's window
        std::size_t link;
        double load;
    };

    RouteId RouteOf(std::size_t chain, std::size_t position) const
    {
        return m_backToBack.chains[chain].hops[position].connection.route;
    }

    Rate RateBeside(const std::vector<Contended>& links) const
    {
        Rate rate = m_backToBack.cap;
        for (const Contended& link : links)
        {
            rate = std::min(rate, Rate::BytesPerSecond(link.rate / link.load));
        }
        return rate;
    }

    const BackToBackChains& m_backToBack;
    const UncontendedRates& m_rates;
    std::unordered_map<uint32_t, std::vector<Load>> m_loads; //!< by link
};

/** The times of slices over a chain's hops. */
class ChainTimes
{
  public:
    ChainTimes(const BackToBackChains& backToBack, const BackToBackChains::Chain& chain)
        : m_backToBack(backToBack),
          m_chain(chain),
          m_rates(chain.hops.size()),
          m_slices(chain.hops.size()),
          m_alls(chain.hops.size()),
          m_behind(chain.hops.size()),
          m_firsts(chain.ranks.size()),
          m_windows(chain.hops.size())
    {
    }

    Rate RateOf(std::size_t position) const
    {
        return m_rates[position];
    }

    /** Sets the rate of a channel over hop @p position. */
    void SetRate(std::size_t position, Rate rate)
    {
        m_rates[position] = rate;
        m_slices[position] = std::min(m_backToBack.slice, m_backToBack.bytes) / rate;
        m_alls[position] = m_backToBack.bytes / rate;
        m_behind[position] =
            m_alls[position] -
            std::min(m_alls[position], m_slices[position] * m_chain.hops[position].slots);
    }

    /**
     * Plays one call. @param begins by rank @param ends by rank; made later where the chain ends
     * later
     */
    void Play(const std::vector<Time>& begins, std::vector<Time>& ends)
    {
        m_firsts[0] = begins[m_chain.ranks[0]];
        for (std::size_t p = 0; p < m_slices.size(); ++p)
        {
            const Time arrival = m_firsts[p] + m_slices[p] + m_chain.hops[p].latency;
            m_firsts[p + 1] = std::max(arrival, begins[m_chain.ranks[p + 1]]);
        }
        Time arrived; // the last slice at this position
        for (std::size_t p = 0; p < m_slices.size(); ++p)
        {
            Time left = std::max(m_firsts[p] + m_alls[p], arrived + m_slices[p]);
            if (m_behind[p] > Time())
            {
                left = std::max(left, m_firsts[p + 1] + m_behind[p]);
            }
            Time& end = ends[m_chain.ranks[p]];
            end = std::max(end, left + m_chain.hops[p].release);
            const double busy = left > m_firsts[p] ? m_alls[p] / (left - m_firsts[p]) : 1;
            m_windows[p] = {m_firsts[p], left, std::min(1.0, busy)};
            arrived = left + m_chain.hops[p].latency;
        }
        Time& end = ends[m_chain.ranks.back()];
        end = std::max({end, arrived, m_firsts.back()});
    }

    /** By hop, of the last call that was played. */
    const std::vector<HopWindow>& Windows() const
    {
        return m_windows;
    }

  private:
    const BackToBackChains& m_backToBack;
    const BackToBackChains::Chain& m_chain;
    std::vector<Rate> m_rates;  //!< by hop
    std::vector<Time> m_slices; //!< by hop: time of one slice
    std::vector<Time> m_alls;   //!< by hop: time of all bytes
    std::vector<Time> m_behind; //!< by hop: time of all bytes beyond the first slots
    std::vector<Time> m_firsts; //!< by position: when the first slice can be used
    std::vector<HopWindow> m_windows;
};

/** The ends of calls on the last rank. */
struct PlayedCalls
{
    Time first;
    Time last;
    Time period;        //!< between the last two calls
    bool steady{false}; //!< whether the two calls before also had this period
};

/**
 * Plays @p calls calls; once all ranks begin them equally long after each other, extrapolates the
 * rest.
 */
PlayedCalls
PlayCalls(std::vector<ChainTimes>& chains, uint32_t ranks, Time start, uint32_t calls)
{
    std::vector<Time> begins(ranks, start);
    PlayedCalls played;
    Time& last = played.last;
    for (uint32_t call = 0; call < calls; ++call)
    {
        std::vector<Time> ends = begins;
        for (ChainTimes& chain : chains)
        {
            chain.Play(begins, ends);
        }
        const Time end = *std::max_element(ends.begin(), ends.end());
        const Time before = played.period;
        played.period = end - last;
        played.steady = std::abs(played.period / before - 1) <= STEADY;
        played.first = call == 0 ? end : played.first;
        last = end;
        Time shortest = Time::Infinite();
        Time longest;
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            const Time next = ends[rank] + start;
            shortest = std::min(shortest, next - begins[rank]);
            longest = std::max(longest, next - begins[rank]);
            begins[rank] = next;
        }
        if (call > 0 && longest - shortest <= longest * SAME)
        {
            played.steady = true;
            last += played.period * (calls - 1 - call);
            break;
        }
    }
    return played;
}

} // namespace

Time
PeriodOf(const BackToBackChains& backToBack, const UncontendedRates& rates, uint32_t calls)
{
    const HopRates hopRates(backToBack, rates);
    std::vector<ChainTimes> chains;
    uint32_t ranks = 0;
    for (const auto& chain : backToBack.chains)
    {
        chains.emplace_back(backToBack, chain);
        ranks = std::max(ranks, *std::max_element(chain.ranks.begin(), chain.ranks.end()) + 1);
    }
    const auto setRates = [&](const auto& rateOf) {
        for (std::size_t chain = 0; chain < chains.size(); ++chain)
        {
            for (std::size_t position = 0; position < backToBack.chains[chain].hops.size();
                 ++position)
            {
                chains[chain].SetRate(position, rateOf(chain, position));
            }
        }
    };
    setRates([&](std::size_t chain, std::size_t position) {
        return hopRates.FirstGuess(chain, position);
    });
    const PlayedCalls guessed = PlayCalls(chains, ranks, backToBack.start, calls);
    PlayedCalls played = guessed;
    for (uint32_t round = 0; round < ROUNDS && played.steady; ++round)
    {
        ChainWindows windows;
        for (const ChainTimes& chain : chains)
        {
            windows.push_back(chain.Windows());
        }
        setRates([&](std::size_t chain, std::size_t position) {
            // Half of the change, as longer windows overlap more, which makes them longer.
            const Rate rate = hopRates.Mean(chain, position, windows, played.period);
            return (chains[chain].RateOf(position) + rate) * 0.5;
        });
        const Time before = played.last;
        played = PlayCalls(chains, ranks, backToBack.start, calls);
        if (std::abs(played.last / before - 1) <= SETTLED)
        {
            break;
        }
    }
    const Time last = played.steady ? played.last : guessed.last;
    return calls > 1 ? (last - guessed.first) * (1.0 / (calls - 1)) : guessed.first;
}

} // namespace weir
