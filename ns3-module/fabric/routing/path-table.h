// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PATH_TABLE_H
#define WEIR_FABRIC_PATH_TABLE_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstdint>
#include <memory>
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

/** A link and what part of each byte of a flow crosses it, on the average. */
struct LinkShare
{
    LinkId link;
    double share{1};
};

/** A way over the network that a path has, from NIC to NIC (or host to host). */
struct PathWay
{
    DeviceId from;
    DeviceId to;
    uint32_t times{1}; //!< how often the path has it
};

/** What a path of several ways is made of: which of its links belong together they do not tell. */
struct PathMakeup
{
    std::vector<PathWay> ways;  //!< by ascending ends, each two ends once
    std::vector<PathLink> rest; //!< links of none of them
};

/** A path and the weight of what it carries. */
struct PathLoad
{
    PathId path;
    double weight{1};
};

/** Says over which links switches spread what is planned for a path. */
class PathSharing
{
  public:
    virtual ~PathSharing() = default;

    /** By ascending link, each once. Valid until the next call. */
    virtual const std::vector<LinkShare>& SharesOf(PathId path) = 0;

    /** Whether one flow is spread so, not only many of them together. */
    virtual bool IsPerPacket() const = 0;

    /** The same of paths that are loaded at once, alone on the fabric; null: no different. */
    virtual std::unique_ptr<PathSharing> Together(const std::vector<PathLoad>& loads) = 0;
};

/**
 * Interned paths: each distinct multiset of links has one PathId, so flows that share a path are
 * recognised by one comparison and a path is stored once however many flows take it.
 *
 * A path is what a flow loads, not only a route: the links of all hops of a ring together are a
 * path too (fidelity `stream`), with a multiplicity where the ring crosses a link more than once.
 * Where switches spread what they are given, such a path keeps what it is made of: see PathSum.
 *
 * A path takes 8 bytes a distinct link, and 19 to 29 more.
 */
class PathTable
{
  public:
    explicit PathTable(const Topology& topology);

    /**
     * The id of the path over @p links (in any order; repeated links become multiplicities).
     * The empty path is valid: it is unconstrained (source and destination on one device).
     * Amortised O(links), and O(log links) more for each when they come out of order.
     * @throws std::invalid_argument when a link does not exist.
     * @throws std::length_error when all paths together have more than 2^32 links.
     */
    PathId Intern(const std::vector<LinkId>& links);

    /**
     * As above, of links that are each given once, in any order; those of multiplicity zero are
     * not part of the path.
     * @throws std::invalid_argument also when a link is given twice.
     */
    PathId InternCounted(const std::vector<PathLink>& links);

    /**
     * A path that is more than its links: other makeups of the same links are other paths.
     * @throws std::invalid_argument as InternCounted.
     */
    PathId InternMadeOf(const std::vector<PathLink>& links, PathMakeup makeup);

    /** What a path that InternMadeOf has given is made of; else null. */
    const PathMakeup* MakeupOf(PathId path) const;

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
        const Entry& e = m_entries[path.Index()];
        const PathLink* first = m_links.data() + e.first;
        return {first, first + m_shapes[e.shape].count};
    }

    /**
     * Calls @p use(link, share) for each link that flows of @p path load when each switch has its
     * way: the path's own, unless its routing is by load or sprays.
     */
    template <typename Use>
    void ForEachShare(PathId path, const Use& use) const
    {
        ForEachShare(path, m_sharing, use);
    }

    /** As above by @p sharing; null: the path's own links. */
    template <typename Use>
    void ForEachShare(PathId path, PathSharing* sharing, const Use& use) const
    {
        if (sharing)
        {
            for (const LinkShare& each : sharing->SharesOf(path))
            {
                use(each.link, each.share);
            }
            return;
        }
        for (const PathLink& each : Links(path))
        {
            use(each.link, static_cast<double>(each.multiplicity));
        }
    }

    /** Says how switches spread flows from now on; null: not at all. It must outlive its use. */
    void SetSharing(PathSharing* sharing)
    {
        m_sharing = sharing;
    }

    /** Null when switches spread nothing. */
    PathSharing* GetSharing() const
    {
        return m_sharing;
    }

    /** The sum of the links' latencies, each counted with its multiplicity. */
    Time Latency(PathId path) const
    {
        return m_shapes[m_entries[path.Index()].shape].latency;
    }

    /** What one flow alone gets: the smallest rate / multiplicity; infinite for the empty path. */
    Rate BottleneckRate(PathId path) const
    {
        return m_shapes[m_entries[path.Index()].shape].bottleneck;
    }

    /** What one flow alone gets when its packets may be sprayed over other ways too. */
    Rate RateAlone(PathId path) const;

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
        uint32_t first; //!< into m_links
        uint32_t shape; //!< into m_shapes
    };

    /** What many paths have in common: a fabric of alike links has few shapes. */
    struct Shape
    {
        uint32_t count;  //!< distinct links
        Time latency;    //!< sum over links
        Rate bottleneck; //!< at the topology's rates
    };

    /** A place of the hash table. */
    struct Slot
    {
        uint32_t hash;
        PathId path; //!< none: the place is free
    };

    void CheckLink(LinkId link) const;

    /** Fills m_scratch. */
    void Count(const std::vector<PathLink>& links);

    /** The id of the path in m_scratch, which is in ascending order. */
    PathId InternScratch();

    /** Where the path in m_scratch is in the hash table, or the free place where it belongs. */
    std::size_t FindSlot(uint32_t hash) const;
    bool IsScratch(PathId path) const;
    void GrowSlots();

    /** Adds the path in m_scratch. */
    PathId Append();
    uint32_t ShapeOfScratch();

    const Topology& m_topology;
    PathSharing* m_sharing{nullptr};
    std::vector<PathLink> m_links;   //!< all paths, one after another
    std::vector<Entry> m_entries;    //!< by PathId
    std::vector<Shape> m_shapes;     //!< all different
    std::vector<Slot> m_slots;       //!< open addressing; a power of two, or none before the first
    std::vector<PathLink> m_scratch; //!< the path being interned
    std::unordered_multimap<uint64_t, uint32_t> m_shapesByHash;
    std::unordered_map<PathId, PathMakeup> m_makeups;
    std::unordered_multimap<uint64_t, PathId> m_madeByHash; //!< of m_makeups
};

} // namespace weir

#endif // WEIR_FABRIC_PATH_TABLE_H
