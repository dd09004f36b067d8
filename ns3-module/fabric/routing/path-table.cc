// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-table.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

constexpr uint64_t MAX_LINKS = uint64_t{1} << 32; //!< range of 32-bit indices

/** Hash of the (link, multiplicity) pairs in order. */
uint32_t
HashOf(const std::vector<PathLink>& links)
{
    uint64_t hash = links.size();
    for (const auto& l : links)
    {
        hash = MixHash(hash, uint64_t{l.multiplicity} << 32 | l.link.Index());
    }
    return static_cast<uint32_t>(hash);
}

void
SortByLink(std::vector<PathLink>& links)
{
    std::sort(links.begin(), links.end(), [](const PathLink& a, const PathLink& b) {
        return a.link < b.link;
    });
}

/** Whether no link occurs twice. Avoids sorting for short paths. */
bool
AreDistinct(const std::vector<PathLink>& links)
{
    constexpr std::size_t FEW = 24;
    if (links.size() <= FEW)
    {
        for (std::size_t i = 1; i < links.size(); i++)
        {
            for (std::size_t j = 0; j < i; j++)
            {
                if (links[i].link == links[j].link)
                {
                    return false;
                }
            }
        }
        return true;
    }
    auto sorted = links;
    SortByLink(sorted);
    return std::adjacent_find(
               sorted.begin(), sorted.end(), [](const PathLink& a, const PathLink& b) {
                   return a.link == b.link;
               }) == sorted.end();
}

} // namespace

void
CountRepeated(std::vector<PathLink>& links)
{
    SortByLink(links);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < links.size(); i++)
    {
        if (kept > 0 && links[kept - 1].link == links[i].link)
        {
            links[kept - 1].multiplicity += links[i].multiplicity;
        }
        else
        {
            links[kept++] = links[i];
        }
    }
    links.resize(kept);
}

PathTable::PathTable(const Topology& topology)
    : m_topology(topology)
{
}

void
PathTable::CheckLink(LinkId link) const
{
    WEIR_REFUSE_IF(link.Index() >= m_topology.LinkCount(),
                   "PathTable: there is no link " << link.Index() << ", only "
                                                  << m_topology.LinkCount());
}

PathId
PathTable::Intern(const std::vector<LinkId>& hops)
{
    m_scratch.clear();
    for (const LinkId link : hops)
    {
        CheckLink(link);
        m_scratch.push_back({link, 1});
    }
    if (!AreDistinct(m_scratch))
    {
        CountRepeated(m_scratch);
    }
    return InternScratch();
}

PathId
PathTable::InternCounted(const std::vector<PathLink>& links)
{
    m_scratch.clear();
    for (const auto& l : links)
    {
        CheckLink(l.link);
        if (l.multiplicity > 0)
        {
            m_scratch.push_back(l);
        }
    }
    SortByLink(m_scratch);
    const auto again =
        std::adjacent_find(m_scratch.begin(),
                           m_scratch.end(),
                           [](const PathLink& a, const PathLink& b) { return a.link == b.link; });
    WEIR_REFUSE_IF(again != m_scratch.end(),
                   "PathTable: link " << again->link.Index() << " is given twice");
    return InternScratch();
}

FlowPath
PathTable::InternDivided(const std::vector<PathId>& paths)
{
    if (std::all_of(paths.begin(), paths.end(), [&](PathId path) { return path == paths[0]; }))
    {
        return {paths.front()};
    }
    std::vector<PathLink> links;
    for (const PathId path : paths)
    {
        for (const PathLink& each : Links(path))
        {
            links.push_back(each);
        }
    }
    CountRepeated(links);
    return {InternCounted(links), static_cast<uint32_t>(paths.size())};
}

PathId
PathTable::InternScratch()
{
    const uint32_t hash = HashOf(m_scratch);
    const uint32_t known =
        m_index.Find(hash, [this](uint32_t path) { return IsScratch(PathId(path)); });
    if (known != InternIndex::NONE)
    {
        return PathId(known);
    }
    const PathId path = Append();
    m_index.Insert(hash, path.Index());
    return path;
}

bool
PathTable::IsScratch(PathId path) const
{
    const auto known = Links(path);
    return std::equal(known.begin(),
                      known.end(),
                      m_scratch.begin(),
                      m_scratch.end(),
                      [](const PathLink& a, const PathLink& b) {
                          return a.link == b.link && a.multiplicity == b.multiplicity;
                      });
}

PathId
PathTable::Append()
{
    if (m_links.size() + 2 * m_scratch.size() > MAX_LINKS)
    {
        throw std::length_error("PathTable: the paths have more than 2^32 links in total");
    }
    const auto first = static_cast<uint32_t>(m_links.size());
    m_entries.push_back({first, ShapeOfScratch()});
    for (const PathLink& each : m_scratch)
    {
        m_links.push_back(each.link.Index());
    }
    if (m_shapes[m_entries.back().shape].isCounted)
    {
        for (const PathLink& each : m_scratch)
        {
            m_links.push_back(each.multiplicity);
        }
    }
    return PathId(m_entries.size() - 1);
}

uint32_t
PathTable::ShapeOfScratch()
{
    Shape shape{static_cast<uint32_t>(m_scratch.size()), false, Time(), Rate::Infinite()};
    for (const auto& l : m_scratch)
    {
        shape.isCounted = shape.isCounted || l.multiplicity != 1;
        const Link& link = m_topology.GetLink(l.link);
        shape.latency += link.latency * l.multiplicity;
        shape.bottleneck = std::min(shape.bottleneck, link.rate / l.multiplicity);
    }
    const uint64_t hash =
        MixHash(MixHash(shape.count, static_cast<uint64_t>(shape.latency.ToPicoseconds())),
                std::hash<double>()(shape.bottleneck.ToBytesPerSecond()));
    const auto candidates = m_shapesByHash.equal_range(hash);
    for (auto it = candidates.first; it != candidates.second; ++it)
    {
        const Shape& known = m_shapes[it->second];
        if (known.count == shape.count && known.isCounted == shape.isCounted &&
            known.latency == shape.latency && known.bottleneck == shape.bottleneck)
        {
            return it->second;
        }
    }
    const auto found = static_cast<uint32_t>(m_shapes.size());
    m_shapes.push_back(shape);
    m_shapesByHash.emplace(hash, found);
    return found;
}

} // namespace weir
