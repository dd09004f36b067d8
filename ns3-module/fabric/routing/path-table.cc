// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/path-table.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

namespace
{

constexpr std::size_t FIRST_SLOTS = 64;
constexpr uint64_t MOST_LINKS = uint64_t{1} << 32; //!< that 32-bit places can name

/** Mixes @p value into @p hash: a multiplication, and its high bits folded down. */
uint64_t
Mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15; // 2^64 over the golden ratio: Knuth, TAOCP 3, 6.4
    return hash ^ hash >> 32;
}

/** Over (link, multiplicity) pairs in ascending link order. */
uint32_t
HashOf(const std::vector<PathLink>& links)
{
    uint64_t hash = links.size();
    for (const auto& l : links)
    {
        hash = Mix(hash, uint64_t{l.multiplicity} << 32 | l.link.Index());
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

/** Whether two makeups of the same links are one: the rest is what is not on the ways. */
bool
AreEqual(const PathMakeup& a, const PathMakeup& b)
{
    return std::equal(a.ways.begin(),
                      a.ways.end(),
                      b.ways.begin(),
                      b.ways.end(),
                      [](const PathWay& x, const PathWay& y) {
                          return x.from == y.from && x.to == y.to && x.times == y.times;
                      });
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
    SortByLink(out);
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

void
PathTable::CheckLink(LinkId link) const
{
    if (link.Index() >= m_topology.LinkCount())
    {
        throw std::invalid_argument("PathTable: there is no link " + std::to_string(link.Index()) +
                                    ", only " + std::to_string(m_topology.LinkCount()));
    }
}

Rate
PathTable::RateAlone(PathId path) const
{
    if (!m_sharing || !m_sharing->IsPerPacket())
    {
        return BottleneckRate(path);
    }
    Rate rate = Rate::Infinite();
    ForEachShare(path, [&](LinkId link, double share) {
        rate = std::min(rate, m_topology.GetLink(link).rate / share);
    });
    return rate;
}

PathId
PathTable::Intern(const std::vector<LinkId>& links)
{
    for (auto link : links)
    {
        CheckLink(link);
    }
    Normalise(links, m_scratch);
    return InternScratch();
}

void
PathTable::Count(const std::vector<PathLink>& links)
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
    if (again != m_scratch.end())
    {
        throw std::invalid_argument("PathTable: link " + std::to_string(again->link.Index()) +
                                    " is given twice");
    }
}

PathId
PathTable::InternCounted(const std::vector<PathLink>& links)
{
    Count(links);
    return InternScratch();
}

PathId
PathTable::InternMadeOf(const std::vector<PathLink>& links, PathMakeup makeup)
{
    Count(links);
    uint64_t hash = HashOf(m_scratch);
    for (const PathWay& way : makeup.ways)
    {
        hash = Mix(Mix(hash, uint64_t{way.from.Index()} << 32 | way.to.Index()), way.times);
    }
    const auto candidates = m_madeByHash.equal_range(hash);
    for (auto it = candidates.first; it != candidates.second; ++it)
    {
        if (IsScratch(it->second) && AreEqual(m_makeups.at(it->second), makeup))
        {
            return it->second;
        }
    }
    const PathId path = Append();
    m_makeups.emplace(path, std::move(makeup));
    m_madeByHash.emplace(hash, path);
    return path;
}

const PathMakeup*
PathTable::MakeupOf(PathId path) const
{
    const auto found = m_makeups.find(path);
    return found == m_makeups.end() ? nullptr : &found->second;
}

PathId
PathTable::InternScratch()
{
    if (4 * (m_entries.size() + 1) > 3 * m_slots.size())
    {
        GrowSlots();
    }
    const uint32_t hash = HashOf(m_scratch);
    Slot& slot = m_slots[FindSlot(hash)];
    if (!slot.path.IsValid())
    {
        slot = {hash, Append()};
    }
    return slot.path;
}

std::size_t
PathTable::FindSlot(uint32_t hash) const
{
    const std::size_t mask = m_slots.size() - 1;
    std::size_t at = hash & mask;
    while (m_slots[at].path.IsValid() && !(m_slots[at].hash == hash && IsScratch(m_slots[at].path)))
    {
        at = (at + 1) & mask;
    }
    return at;
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

void
PathTable::GrowSlots()
{
    std::vector<Slot> grown(std::max(FIRST_SLOTS, 2 * m_slots.size()), Slot{0, PathId()});
    const std::size_t mask = grown.size() - 1;
    for (const Slot& slot : m_slots)
    {
        if (slot.path.IsValid())
        {
            std::size_t at = slot.hash & mask;
            while (grown[at].path.IsValid())
            {
                at = (at + 1) & mask;
            }
            grown[at] = slot;
        }
    }
    m_slots = std::move(grown);
}

PathId
PathTable::Append()
{
    if (m_links.size() + m_scratch.size() > MOST_LINKS)
    {
        throw std::length_error("PathTable: all paths together have more than 2^32 links");
    }
    const auto first = static_cast<uint32_t>(m_links.size());
    m_entries.push_back({first, ShapeOfScratch()});
    m_links.insert(m_links.end(), m_scratch.begin(), m_scratch.end());
    return PathId(m_entries.size() - 1);
}

uint32_t
PathTable::ShapeOfScratch()
{
    Shape shape{static_cast<uint32_t>(m_scratch.size()), Time(), Rate::Infinite()};
    for (const auto& l : m_scratch)
    {
        const Link& link = m_topology.GetLink(l.link);
        shape.latency += link.latency * l.multiplicity;
        shape.bottleneck = std::min(shape.bottleneck, link.rate / l.multiplicity);
    }
    const uint64_t hash =
        Mix(Mix(shape.count, static_cast<uint64_t>(shape.latency.ToPicoseconds())),
            std::hash<double>()(shape.bottleneck.ToBytesPerSecond()));
    const auto candidates = m_shapesByHash.equal_range(hash);
    for (auto it = candidates.first; it != candidates.second; ++it)
    {
        const Shape& known = m_shapes[it->second];
        if (known.count == shape.count && known.latency == shape.latency &&
            known.bottleneck == shape.bottleneck)
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
