// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/ring/back-to-back-chains.h"

#include "collectives/engines/closed-form.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace weir
{

namespace
{

/** The loads of all chains on links, hop by hop. */
class HopLoads
{
  public:
    HopLoads(const BackToBackChains& row, const UncontendedRates& rates)
        : m_cap(row.cap),
          m_slices(std::max(1.0, row.bytes.ToDouble() / row.slice.ToDouble())),
          m_rates(rates)
    {
        for (const auto& chain : row.chains)
        {
            for (std::size_t position = 0; position < chain.hops.size(); ++position)
            {
                rates.ForEachShare(chain.hops[position].route, [&](LinkId link, double share) {
                    m_loads[link.Index()].push_back({position, share * chain.weight});
                });
            }
        }
    }

    /**
     * Rate of a channel over a hop's route at @p position of a chain, with the hops that cross its
     * links at the same time.
     */
    Rate ShareOn(RouteId route, std::size_t position) const
    {
        Rate rate = m_cap;
        m_rates.ForEachShare(route, [&](LinkId link, double share) {
            double load = 0;
            for (const Load& each : m_loads.at(link.Index()))
            {
                const auto apart = static_cast<double>(
                    each.position > position ? each.position - position : position - each.position);
                load += each.load * std::max(0.0, 1 - apart / m_slices);
            }
            rate = std::min(rate, m_rates.RateOf(link) / std::max(load, share));
        });
        return rate;
    }

  private:
    struct Load
    {
        std::size_t position;
        double load;
    };

    Rate m_cap;
    double m_slices; //!< number of slices of a channel
    const UncontendedRates& m_rates;
    std::unordered_map<uint32_t, std::vector<Load>> m_loads; //!< by link
};

/** The times of slices over a chain's hops. */
class ChainTimes
{
  public:
    ChainTimes(const BackToBackChains& row,
               const BackToBackChains::Chain& chain,
               const HopLoads& loads)
        : m_chain(chain)
    {
        for (const auto& hop : chain.hops)
        {
            const Rate share = loads.ShareOn(hop.route, m_slices.size());
            const Time slice = std::min(row.slice, row.bytes) / share;
            const Time all = row.bytes / share;
            m_slices.push_back(slice);
            m_alls.push_back(all);
            m_behind.push_back(all - std::min(all, slice * hop.slots));
        }
        m_firsts.resize(chain.ranks.size());
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
            arrived = left + m_chain.hops[p].latency;
        }
        Time& end = ends[m_chain.ranks.back()];
        end = std::max({end, arrived, m_firsts.back()});
    }

  private:
    const BackToBackChains::Chain& m_chain;
    std::vector<Time> m_slices; //!< by hop: time of one slice
    std::vector<Time> m_alls;   //!< by hop: time of all bytes
    std::vector<Time> m_behind; //!< by hop: time of all bytes beyond the first slots
    std::vector<Time> m_firsts; //!< by position: when the first slice can be used
};

} // namespace

Time
PeriodOf(const BackToBackChains& row, const UncontendedRates& rates, uint32_t calls)
{
    const HopLoads loads(row, rates);
    std::vector<ChainTimes> chains;
    uint32_t ranks = 0;
    for (const auto& chain : row.chains)
    {
        chains.emplace_back(row, chain, loads);
        ranks = std::max(ranks, *std::max_element(chain.ranks.begin(), chain.ranks.end()) + 1);
    }
    std::vector<Time> begins(ranks, row.start);
    Time first;
    Time last;
    Time period;
    for (uint32_t call = 0; call < calls; ++call)
    {
        std::vector<Time> ends = begins;
        for (ChainTimes& chain : chains)
        {
            chain.Play(begins, ends);
        }
        const Time end = *std::max_element(ends.begin(), ends.end());
        const Time before = period;
        period = end - last;
        last = end;
        first = call == 0 ? end : first;
        if (call > 1 && period == before)
        {
            last += period * (calls - 1 - call); // the remaining calls have the same period
            break;
        }
        for (uint32_t rank = 0; rank < ranks; ++rank)
        {
            begins[rank] = ends[rank] + row.start;
        }
    }
    return calls > 1 ? (last - first) * (1.0 / (calls - 1)) : first;
}

} // namespace weir
