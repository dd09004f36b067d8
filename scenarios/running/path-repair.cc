// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/running/path-repair.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr uint8_t NETWORK_ONLY = 1U << static_cast<uint8_t>(LinkKind::Network);

bool
IsSwitch(const Device& device)
{
    return device.kind == DeviceKind::LeafSwitch || device.kind == DeviceKind::SpineSwitch ||
           device.kind == DeviceKind::CoreSwitch;
}

/** A multiset of links, small, in ascending id. */
class LinkBag
{
  public:
    LinkBag(const Topology& topology, PathTable::Span links)
        : m_topology(topology),
          m_links(links.begin(), links.end())
    {
    }

    void Remove(LinkId link)
    {
        auto entry = std::find_if(m_links.begin(), m_links.end(), [&](const PathLink& other) {
            return other.link == link;
        });
        if (--entry->multiplicity == 0)
        {
            m_links.erase(entry);
        }
    }

    void Add(const std::vector<LinkId>& links)
    {
        for (const LinkId link : links)
        {
            m_links.push_back({link, 1});
        }
    }

    /** A link that is down; an invalid id when none is. */
    LinkId FindDown(const std::vector<bool>& down) const
    {
        for (const auto& entry : m_links)
        {
            if (down[entry.link.Index()])
            {
                return entry.link;
            }
        }
        return LinkId();
    }

    /**
     * A network link that leaves (or enters) @p device, one that ends outside switches first; none
     * from or to @p avoided: a way that came from there does not lead back.
     */
    LinkId FindNetworkLink(DeviceId device, bool leaving, DeviceId avoided) const
    {
        LinkId found;
        for (const auto& entry : m_links)
        {
            const Link& link = m_topology.GetLink(entry.link);
            const DeviceId other = leaving ? link.to : link.from;
            if (link.kind != LinkKind::Network || (leaving ? link.from : link.to) != device ||
                other == avoided)
            {
                continue;
            }
            if (!IsSwitch(m_topology.GetDevice(other)))
            {
                return entry.link;
            }
            if (!found.IsValid())
            {
                found = entry.link;
            }
        }
        return found;
    }

    std::vector<LinkId> AsList() const
    {
        std::vector<LinkId> list;
        for (const auto& entry : m_links)
        {
            list.insert(list.end(), entry.multiplicity, entry.link);
        }
        return list;
    }

  private:
    const Topology& m_topology;
    std::vector<PathLink> m_links;
};

/** Takes the stretch through dead link @p dead out of @p bag. @return its two ends. */
std::pair<DeviceId, DeviceId>
TakeStretch(const Topology& topology, LinkBag& bag, LinkId dead)
{
    DeviceId from = topology.GetLink(dead).from;
    DeviceId to = topology.GetLink(dead).to;
    bag.Remove(dead);
    DeviceId behind = to; // on the stretch, next to its end
    while (IsSwitch(topology.GetDevice(from)))
    {
        const LinkId before = bag.FindNetworkLink(from, false, behind);
        if (!before.IsValid())
        {
            break;
        }
        bag.Remove(before);
        behind = from;
        from = topology.GetLink(before).from;
    }
    behind = topology.GetLink(dead).from;
    while (IsSwitch(topology.GetDevice(to)))
    {
        const LinkId after = bag.FindNetworkLink(to, true, behind);
        if (!after.IsValid())
        {
            break;
        }
        bag.Remove(after);
        behind = to;
        to = topology.GetLink(after).to;
    }
    return {from, to};
}

} // namespace

std::optional<PathId>
RepairPath(PathTable& paths, Router& router, const std::vector<bool>& down, PathId path)
{
    const Topology& topology = paths.GetTopology();
    LinkBag bag(topology, paths.Links(path));
    LinkId dead = bag.FindDown(down);
    if (!dead.IsValid())
    {
        return path;
    }
    for (uint16_t stretch = 0; dead.IsValid(); dead = bag.FindDown(down), stretch++)
    {
        if (topology.GetLink(dead).kind != LinkKind::Network)
        {
            return std::nullopt;
        }
        const auto [from, to] = TakeStretch(topology, bag, dead);
        if (!router.IsReachable(from, to, NETWORK_ONLY))
        {
            return std::nullopt;
        }
        const FlowTuple tuple{from.Index(), to.Index(), stretch, 0};
        bag.Add(router.RouteOver(from, to, tuple, NETWORK_ONLY));
    }
    return paths.Intern(bag.AsList());
}

} // namespace weir
