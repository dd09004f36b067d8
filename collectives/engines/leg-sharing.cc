// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/engines/leg-sharing.h"

#include "collectives/engines/closed-form.h"
#include "fabric/routing/concurrent-shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace weir
{

namespace
{

/** Times and loads that differ by less than this part are the same but for rounding. */
constexpr double SAME = 1e-9;

} // namespace

LegSharing::LegSharing(const std::vector<StreamLeg>& legs, Routing& routing)
    : m_byCap(legs.size()),
      m_full(0)
{
    const ConcurrentShares shares(routing, [&legs] { return LoadsOf(legs); });
    std::unordered_map<uint32_t, uint32_t> places;
    for (const StreamLeg& leg : legs)
    {
        Leg own;
        own.firstUse = static_cast<uint32_t>(m_uses.size());
        own.left = leg.bytes.ToDouble();
        own.cap = leg.cap.ToBytesPerSecond() / leg.weight;
        own.weight = leg.weight;
        shares.ForEach(leg.route, [&](LinkId link, double share) {
            const auto [place, isNew] =
                places.try_emplace(link.Index(), static_cast<uint32_t>(m_links.size()));
            if (isNew)
            {
                Link another;
                another.index = link.Index();
                another.capacity = routing.GetTopology().GetLink(link).rate.ToBytesPerSecond();
                m_links.push_back(another);
            }
            m_links[place->second].firstLeg++;
            m_uses.push_back({place->second, share * leg.weight});
        });
        own.uses = static_cast<uint32_t>(m_uses.size()) - own.firstUse;
        m_legs.push_back(own);
    }
    // Counts become the ends of the links' stretches, which entering the legs turns into firsts.
    uint32_t end = 0;
    for (Link& link : m_links)
    {
        end += link.firstLeg;
        link.firstLeg = end;
    }
    m_legsOf.resize(m_uses.size());
    for (std::size_t i = m_legs.size(); i-- > 0;)
    {
        for (uint32_t use = 0; use < m_legs[i].uses; use++)
        {
            const uint32_t place = m_uses[m_legs[i].firstUse + use].place;
            m_legsOf[--m_links[place].firstLeg] = static_cast<uint32_t>(i);
        }
    }
    std::iota(m_byCap.begin(), m_byCap.end(), 0);
    std::stable_sort(m_byCap.begin(), m_byCap.end(), [this](uint32_t a, uint32_t b) {
        return m_legs[a].cap < m_legs[b].cap;
    });
    m_full = IndexedHeap<double>(m_links.size());
}

/** @p leg rises no more; the links that it crosses are full later than they would be. */
void
LegSharing::Stop(Leg& leg, double level)
{
    leg.rises = false;
    leg.level = level;
    for (uint32_t i = 0; i < leg.uses; i++)
    {
        const Use& use = m_uses[leg.firstUse + i];
        Link& link = m_links[use.place];
        link.free -= level * use.load;
        link.rising -= use.load;
        if (link.rising < SAME * use.load)
        {
            link.rising = 0; // only rounding is left
            m_full.Remove(use.place);
        }
        else
        {
            m_full.Set(use.place, std::max(link.free, 0.0) / link.rising);
        }
    }
}

/** Finds the levels of the legs that have not ended, by progressive filling. */
void
LegSharing::Share()
{
    for (Link& link : m_links)
    {
        link.free = link.capacity;
        link.rising = 0;
    }
    for (Leg& leg : m_legs)
    {
        leg.rises = leg.end < 0;
        for (uint32_t i = 0; leg.rises && i < leg.uses; i++)
        {
            const Use& use = m_uses[leg.firstUse + i];
            m_links[use.place].rising += use.load;
        }
    }
    m_full.Clear();
    for (std::size_t place = 0; place < m_links.size(); place++)
    {
        if (m_links[place].rising > 0)
        {
            m_full.Set(static_cast<uint32_t>(place),
                       m_links[place].capacity / m_links[place].rising);
        }
    }
    for (const uint32_t next : m_byCap)
    {
        while (m_legs[next].rises && !m_full.Empty() && m_full.TopKey() < m_legs[next].cap)
        {
            const uint32_t place = m_full.TopIndex();
            const double level = m_full.TopKey();
            const std::size_t last =
                place + 1 < m_links.size() ? m_links[place + 1].firstLeg : m_legsOf.size();
            for (std::size_t i = m_links[place].firstLeg; i < last; i++)
            {
                if (m_legs[m_legsOf[i]].rises)
                {
                    Stop(m_legs[m_legsOf[i]], level);
                }
            }
            m_full.Remove(place);
        }
        if (m_legs[next].rises)
        {
            Stop(m_legs[next], m_legs[next].cap);
        }
    }
}

std::vector<double>
LegSharing::Rates()
{
    Share();
    std::vector<double> rates;
    for (const Leg& leg : m_legs)
    {
        rates.push_back(leg.level * leg.weight);
    }
    return rates;
}

std::vector<LegSharing::LinkLoad>
LegSharing::Loads() const
{
    std::vector<LinkLoad> loads;
    for (const Link& link : m_links)
    {
        loads.push_back({link.index, 0, link.capacity});
    }
    for (const Leg& leg : m_legs)
    {
        for (uint32_t i = 0; i < leg.uses; i++)
        {
            const Use& use = m_uses[leg.firstUse + i];
            loads[use.place].load += use.load * leg.level;
        }
    }
    return loads;
}

std::vector<double>
LegSharing::Ends()
{
    std::size_t running = m_legs.size();
    double now = 0;
    while (running > 0)
    {
        Share();
        double next = std::numeric_limits<double>::infinity();
        for (const Leg& leg : m_legs)
        {
            if (leg.end < 0 && leg.level > 0)
            {
                next = std::min(next, leg.left / (leg.level * leg.weight));
            }
        }
        if (std::isinf(next))
        {
            break;
        }
        now += next;
        for (Leg& leg : m_legs)
        {
            if (leg.end >= 0)
            {
                continue;
            }
            const double rate = leg.level * leg.weight;
            leg.left -= std::isinf(rate) ? leg.left : rate * next;
            if (std::isinf(rate) || leg.left <= SAME * rate * now)
            {
                leg.end = now;
                running--;
            }
        }
    }
    std::vector<double> ends;
    for (const Leg& leg : m_legs)
    {
        ends.push_back(leg.end < 0 ? std::numeric_limits<double>::infinity() : leg.end);
    }
    return ends;
}

} // namespace weir
