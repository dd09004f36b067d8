// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-stretches.h"

#include <algorithm>

namespace weir
{

namespace
{

bool
IsEndPoint(const Device& device)
{
    return device.kind == DeviceKind::Nic || device.kind == DeviceKind::Host;
}

/** The network links of a path by the device they leave. */
class Remaining
{
  public:
    Remaining(Router& router,
              const Topology& topology,
              PathTable::Span links,
              std::vector<PathLink>& others)
        : m_router(router),
          m_topology(topology)
    {
        for (const PathLink& each : links)
        {
            const bool isNetwork = topology.GetLink(each.link).kind == LinkKind::Network;
            (isNetwork ? m_links : others).push_back(each);
        }
        std::stable_sort(m_links.begin(), m_links.end(), [&](const PathLink& a, const PathLink& b) {
            const Link& x = m_topology.GetLink(a.link);
            const Link& y = m_topology.GetLink(b.link);
            return x.from != y.from ? x.from < y.from : Ends(x) && !Ends(y);
        });
    }

    std::size_t Size() const
    {
        return m_links.size();
    }

    PathLink& At(std::size_t i)
    {
        return m_links[i];
    }

    bool Starts(std::size_t i) const
    {
        const Device& from = m_topology.GetDevice(m_topology.GetLink(m_links[i].link).from);
        return IsEndPoint(from) && m_links[i].multiplicity > 0;
    }

    bool Ends(const Link& link) const
    {
        return IsEndPoint(m_topology.GetDevice(link.to));
    }

    /**
     * The place of a link that is left for a way whose first link is @p start to go on from @p at:
     * to a switch that is farther from the first, else to another NIC than its own, else any;
     * Size() when there is none.
     */
    std::size_t Next(const Link& start, DeviceId at) const
    {
        auto i = std::lower_bound(
            m_links.begin(), m_links.end(), at, [&](const PathLink& a, DeviceId b) {
                return m_topology.GetLink(a.link).from < b;
            });
        std::size_t leaving = m_links.size();
        std::size_t any = m_links.size();
        const uint32_t length = m_router.NetworkLength(start.to, at);
        for (; i != m_links.end() && m_topology.GetLink(i->link).from == at; ++i)
        {
            if (i->multiplicity == 0)
            {
                continue;
            }
            const auto place = static_cast<std::size_t>(i - m_links.begin());
            const Link& link = m_topology.GetLink(i->link);
            if (Ends(link))
            {
                std::size_t& best = link.to == start.from ? any : leaving;
                best = std::min(best, place);
                continue;
            }
            if (m_router.NetworkLength(start.to, link.to) == length + link.cost)
            {
                return place;
            }
            any = std::min(any, place);
        }
        return leaving < m_links.size() ? leaving : any;
    }

  private:
    Router& m_router;
    const Topology& m_topology;
    std::vector<PathLink> m_links;
};

} // namespace

PathStretches
TakeApart(Router& router, const Topology& topology, PathTable::Span links)
{
    PathStretches apart;
    Remaining remaining(router, topology, links, apart.rest);
    for (std::size_t start = 0; start < remaining.Size(); start++)
    {
        while (remaining.Starts(start))
        {
            std::vector<std::size_t> way{start};
            uint32_t times = remaining.At(start).multiplicity;
            remaining.At(start).multiplicity -= times; // so that the way cannot take it again
            for (bool ends = false; !ends;)
            {
                const Link& link = topology.GetLink(remaining.At(way.back()).link);
                const Link& first = topology.GetLink(remaining.At(start).link);
                const std::size_t next =
                    remaining.Ends(link) ? remaining.Size() : remaining.Next(first, link.to);
                ends = next == remaining.Size();
                if (!ends)
                {
                    const uint32_t left = remaining.At(next).multiplicity;
                    if (left < times)
                    {
                        // Only so many go on this way: give the rest back to the links before.
                        for (const std::size_t i : way)
                        {
                            remaining.At(i).multiplicity += times - left;
                        }
                        times = left;
                    }
                    remaining.At(next).multiplicity -= times;
                    way.push_back(next);
                }
            }
            PathStretch stretch;
            stretch.times = times;
            for (const std::size_t i : way)
            {
                stretch.links.push_back(remaining.At(i).link);
            }
            const bool isWhole =
                remaining.Ends(topology.GetLink(stretch.links.back())) && stretch.links.size() > 1;
            if (isWhole)
            {
                apart.network.push_back(std::move(stretch));
                continue;
            }
            for (const LinkId link : stretch.links) // it ends within the network: SHARP
            {
                apart.rest.push_back({link, times});
            }
        }
    }
    for (std::size_t i = 0; i < remaining.Size(); i++)
    {
        if (remaining.At(i).multiplicity > 0)
        {
            apart.rest.push_back(remaining.At(i));
        }
    }
    return apart;
}

} // namespace weir
