// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PATH_TABLE_H
#define WEIR_FABRIC_PATH_TABLE_H

#include "fabric/ids.h"
#include "fabric/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** A link of a path and how many times each byte of the flow crosses it. */
struct PathLink
{
    LinkId link;
    uint32_t multiplicity{1};
};

/**
 * Interned paths: each distinct multiset of links has one PathId, so flows that share a path are
 * recognised by one comparison and a path is stored once however many flows take it.
 *
 * A path is what a flow loads, not only a route: the links of all hops of a ring together are a
 * path too (fidelity `stream`), with a multiplicity where the ring crosses a link more than once.
 */
class PathTable
{
  public:
    explicit PathTable(const Topology& topology);

    /**
     * The id of the path over @p links (in any order; repeated links become multiplicities).
     * The empty path is valid: it is unconstrained (source and destination on one device).
     * Amortised O(links).
     * @throws std::invalid_argument when a link does not exist.
     */
    PathId Intern(const std::vector<LinkId>& links);

    /** The links in ascending id, each once. Valid until the next Intern. */
    struct Span
    {
        const PathLink* first;
        const PathLink* last;

        const PathLink* begin() const
        {
            return first;
        }

        const PathLink* end() const
        {
            return last;
        }

        std::size_t size() const
        {
            return last - first;
        }
    };

    Span Links(PathId path) const
    {
        const auto& e = m_entries[path.Index()];
        return {m_links.data() + e.first, m_links.data() + e.first + e.count};
    }

    /** The sum of the links' latencies, each counted with its multiplicity. */
    Time Latency(PathId path) const
    {
        return m_entries[path.Index()].latency;
    }

    /** What one flow alone gets: the smallest rate / multiplicity; infinite for the empty path. */
    Rate BottleneckRate(PathId path) const
    {
        return m_entries[path.Index()].bottleneck;
    }

    std::size_t Size() const
    {
        return m_entries.size();
    }

    const Topology& GetTopology() const
    {
        return m_topology;
    }

  private:
    struct Entry
    {
        uint64_t first;  //!< into m_links
        uint32_t count;  //!< distinct links
        Time latency;    //!< sum over links
        Rate bottleneck; //!< at the topology's rates
    };

    /** Adds the path in m_scratch. */
    PathId Append(uint64_t hash);

    const Topology& m_topology;
    std::vector<PathLink> m_links;                         //!< all paths, one after another
    std::vector<Entry> m_entries;                          //!< by PathId
    std::unordered_multimap<uint64_t, PathId> m_idsByHash; //!< hash of the link multiset
    std::vector<PathLink> m_scratch;                       //!< the path being interned
};

} // namespace weir

#endif // WEIR_FABRIC_PATH_TABLE_H
