// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-sum.h"

#include "fabric/topology/topology.h"

namespace weir
{

namespace
{

bool
IsEndPoint(const Device& device)
{
    return device.kind == DeviceKind::Nic || device.kind == DeviceKind::Host;
}

std::vector<PathLink>
Counted(const std::map<LinkId, uint32_t>& links)
{
    std::vector<PathLink> counted;
    counted.reserve(links.size());
    for (const auto& [link, multiplicity] : links)
    {
        counted.push_back({link, multiplicity});
    }
    return counted;
}

} // namespace

PathSum::PathSum(PathTable& paths)
    : m_paths(paths),
      m_keepsWays(paths.GetSharing() != nullptr)
{
}

void
PathSum::Add(PathId path, uint32_t times)
{
    const auto span = m_paths.Links(path);
    const PathMakeup* makeup = m_paths.MakeupOf(path);
    if (!makeup)
    {
        AddCounted({span.begin(), span.end()}, times);
        return;
    }
    for (const PathLink& each : span)
    {
        m_links[each.link] += each.multiplicity * times;
    }
    for (const PathLink& each : makeup->rest)
    {
        m_rest[each.link] += each.multiplicity * times;
    }
    for (const PathWay& way : makeup->ways)
    {
        m_ways[{way.from, way.to}] += way.times * times;
    }
}

void
PathSum::Add(const std::vector<LinkId>& way, uint32_t times)
{
    std::vector<PathLink> links;
    links.reserve(way.size());
    for (const LinkId link : way)
    {
        links.push_back({link, 1});
    }
    AddCounted(links, times);
}

PathWay
PathSum::FindWay(const std::vector<PathLink>& links) const
{
    const Topology& topology = m_paths.GetTopology();
    PathWay way;
    for (const PathLink& each : links)
    {
        const Link& link = topology.GetLink(each.link);
        if (link.kind != LinkKind::Network)
        {
            continue;
        }
        if (IsEndPoint(topology.GetDevice(link.from)))
        {
            way.from = link.from;
            way.times = each.multiplicity;
        }
        if (IsEndPoint(topology.GetDevice(link.to)))
        {
            way.to = link.to;
        }
    }
    return way;
}

void
PathSum::AddCounted(const std::vector<PathLink>& links, uint32_t times)
{
    const PathWay way = m_keepsWays ? FindWay(links) : PathWay();
    const bool isWhole = way.from.IsValid() && way.to.IsValid();
    if (isWhole)
    {
        m_ways[{way.from, way.to}] += way.times * times;
    }
    for (const PathLink& each : links)
    {
        const bool isOnWay =
            isWhole && m_paths.GetTopology().GetLink(each.link).kind == LinkKind::Network;
        m_links[each.link] += each.multiplicity * times;
        if (m_keepsWays && !isOnWay)
        {
            m_rest[each.link] += each.multiplicity * times;
        }
    }
}

PathId
PathSum::Intern() const
{
    if (!m_keepsWays || m_ways.empty())
    {
        return m_paths.InternCounted(Counted(m_links));
    }
    PathMakeup makeup;
    for (const auto& [ends, times] : m_ways)
    {
        makeup.ways.push_back({ends.first, ends.second, times});
    }
    makeup.rest = Counted(m_rest);
    return m_paths.InternMadeOf(Counted(m_links), std::move(makeup));
}

} // namespace weir
