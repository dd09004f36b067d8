// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/path-table.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** FNV-1a over (link, multiplicity) pairs in ascending link order. */
uint64_t
HashOf(const std::vector<PathLink>& links)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (const auto& l : links)
    {
        hash = (hash ^ l.link.Index()) * 0x100000001b3;
        hash = (hash ^ l.multiplicity) * 0x100000001b3;
    }
    return hash;
}

/** Sorts by link and folds repetitions into multiplicities. */
void
Normalise(const std::vector<LinkId>& links, std::vector<PathLink>& out)
{
    out.clear();
    for (auto link : links)
    {
        out.push_back({link, 1});
    }
    std::sort(out.begin(), out.end(), [](const PathLink& a, const PathLink& b) {
        return a.link < b.link;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < out.size(); i++)
    {
        if (kept > 0 && out[kept - 1].link == out[i].link)
        {
            out[kept - 1].multiplicity++;
        }
        else
        {
            out[kept++] = out[i];
        }
    }
    out.resize(kept);
}

} // namespace

PathTable::PathTable(const Topology& topology)
    : m_topology(topology)
{
}

PathId
PathTable::Intern(const std::vector<LinkId>& links)
{
    for (auto link : links)
    {
        if (link.Index() >= m_topology.LinkCount())
        {
            throw std::invalid_argument("PathTable: there is no link " +
                                        std::to_string(link.Index()) + ", only " +
                                        std::to_string(m_topology.LinkCount()));
        }
    }
    Normalise(links, m_scratch);
    const uint64_t hash = HashOf(m_scratch);
    const auto candidates = m_idsByHash.equal_range(hash);
    for (auto it = candidates.first; it != candidates.second; ++it)
    {
        const auto known = Links(it->second);
        if (std::equal(known.begin(),
                       known.end(),
                       m_scratch.begin(),
                       m_scratch.end(),
                       [](const PathLink& a, const PathLink& b) {
                           return a.link == b.link && a.multiplicity == b.multiplicity;
                       }))
        {
            return it->second;
        }
    }
    return Append(hash);
}

PathId
PathTable::Append(uint64_t hash)
{
    Entry entry{m_links.size(), static_cast<uint32_t>(m_scratch.size()), Time(), Rate::Infinite()};
    for (const auto& l : m_scratch)
    {
        const Link& link = m_topology.GetLink(l.link);
        entry.latency += link.latency * l.multiplicity;
        entry.bottleneck = std::min(entry.bottleneck, link.rate / l.multiplicity);
    }
    m_links.insert(m_links.end(), m_scratch.begin(), m_scratch.end());
    const PathId id(m_entries.size());
    m_entries.push_back(entry);
    m_idsByHash.emplace(hash, id);
    return id;
}

} // namespace weir
