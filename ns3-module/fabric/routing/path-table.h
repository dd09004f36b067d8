// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_PATH_TABLE_H
#define WEIR_FABRIC_ROUTING_PATH_TABLE_H

#include "fabric/ids.h"
#include "fabric/routing/intern-index.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
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

/** Sorts by link and folds repetitions into multiplicities. */
void CountRepeated(std::vector<PathLink>& links);

/** A link and what part of each byte of a flow crosses it, on average. */
struct LinkShare
{
    LinkId link;
    double share{1};
};

/** The links of a flow: multiplicity / unit of its bytes cross each link of the path. */
struct FlowPath
{
    PathId path;
    uint32_t unit{1}; //!< 1: the flow is not divided

    friend bool operator==(FlowPath a, FlowPath b)
    {
        return a.path == b.path && a.unit == b.unit;
    }
};

/**
 * Interned paths: each distinct sequence of links has one PathId, so flows that share a path are
 * recognized by one comparison and a path is stored once however many flows take it.
 *
 * A path keeps its hops in order. What a flow loads is derived from it: each link with how often a
 * byte crosses it. What loads links in other ways than from hop to hop (the sum of several routes,
 * a multicast in a switch) is interned as counted links.
 *
 * A path takes 4 bytes a distinct link (8 where one is crossed more than once), and 19 to 29 more.
 */
class PathTable
{
  public:
    explicit PathTable(const Topology& topology);

    /**
     * The id of the path over @p hops in order; where one is crossed more than once, the id of the
     * counted links. The empty path is valid: it is unconstrained (source and destination are one
     * device). Amortized O(links log links).
     * @throws std::invalid_argument when a link does not exist.
     * @throws std::length_error when all paths together have more than 2^32 links,
     *         counted ones twice.
     */
    PathId Intern(const std::vector<LinkId>& hops);

    /**
     * The id of links that are each given once, in any order; those of multiplicity zero are not
     * part of it.
     * @throws std::invalid_argument also when a link is given twice.
     */
    PathId InternCounted(const std::vector<PathLink>& links);

    /** The links of a flow that is divided evenly over @p paths, of which some may be equal. */
    FlowPath InternDivided(const std::vector<PathId>& paths);

    /** Hops in order, or counted links in ascending id; each once. Valid until the next Intern. */
    class Span
    {
      public:
        /** Steps over the links, which it makes as they are looked at. */
        class Iterator
        {
          public:
            using iterator_category = std::random_access_iterator_tag;
            using value_type = PathLink;
            using difference_type = std::ptrdiff_t;
            using reference = PathLink;

            /** A link that has no place of its own. */
            struct pointer
            {
                PathLink link;

                const PathLink* operator->() const
                {
                    return &link;
                }
            };

            Iterator(const uint32_t* link, std::ptrdiff_t toCount)
                : m_link(link),
                  m_toCount(toCount)
            {
            }

            PathLink operator*() const
            {
                return {LinkId(*m_link), m_toCount == 0 ? 1 : m_link[m_toCount]};
            }

            pointer operator->() const
            {
                return {**this};
            }

            PathLink operator[](difference_type i) const
            {
                return *(*this + i);
            }

            Iterator& operator++()
            {
                ++m_link;
                return *this;
            }

            Iterator operator++(int)
            {
                Iterator before = *this;
                ++m_link;
                return before;
            }

            Iterator& operator--()
            {
                --m_link;
                return *this;
            }

            Iterator& operator+=(difference_type i)
            {
                m_link += i;
                return *this;
            }

            friend Iterator operator+(Iterator at, difference_type i)
            {
                return at += i;
            }

            friend Iterator operator-(Iterator at, difference_type i)
            {
                return at += -i;
            }

            friend difference_type operator-(Iterator a, Iterator b)
            {
                return a.m_link - b.m_link;
            }

            friend bool operator==(Iterator a, Iterator b)
            {
                return a.m_link == b.m_link;
            }

            friend bool operator!=(Iterator a, Iterator b)
            {
                return a.m_link != b.m_link;
            }

            friend bool operator<(Iterator a, Iterator b)
            {
                return a.m_link < b.m_link;
            }

          private:
            const uint32_t* m_link;
            std::ptrdiff_t m_toCount; //!< how far behind a link its multiplicity is; 0: it is one
        };

        Span(const uint32_t* first, std::size_t size, bool isCounted)
            : m_first(first),
              m_size(size),
              m_toCount(isCounted ? static_cast<std::ptrdiff_t>(size) : 0)
        {
        }

        Iterator begin() const
        {
            return {m_first, m_toCount};
        }

        Iterator end() const
        {
            return {m_first + m_size, m_toCount};
        }

        std::size_t size() const
        {
            return m_size;
        }

      private:
        const uint32_t* m_first;
        std::size_t m_size;
        std::ptrdiff_t m_toCount;
    };

    Span Links(PathId path) const
    {
        const Entry& e = m_entries[path.Index()];
        const Shape& shape = m_shapes[e.shape];
        return {m_links.data() + e.first, shape.count, shape.isCounted};
    }

    /** The sum of the links' latencies, each counted with its multiplicity. */
    Time Latency(PathId path) const
    {
        return m_shapes[m_entries[path.Index()].shape].latency;
    }

    /** What an uncontended flow gets: the least rate / multiplicity; infinite for the empty path.
     */
    Rate BottleneckRate(PathId path) const
    {
        return m_shapes[m_entries[path.Index()].shape].bottleneck;
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
        uint32_t first; //!< into m_links
        uint32_t shape; //!< into m_shapes
    };

    /** What many paths have in common: a fabric of similar links has few shapes. */
    struct Shape
    {
        uint32_t count;  //!< distinct links
        bool isCounted;  //!< some are crossed more than once
        Time latency;    //!< sum over links
        Rate bottleneck; //!< at the topology's rates
    };

    void CheckLink(LinkId link) const;

    /** The id of the path in m_scratch. */
    PathId InternScratch();

    bool IsScratch(PathId path) const;

    /** Adds the path in m_scratch. */
    PathId Append();
    uint32_t ShapeOfScratch();

    const Topology& m_topology;
    std::vector<uint32_t> m_links;   //!< indices of all paths' links, one path after another;
                                     //!< where they are counted, followed by multiplicities
    std::vector<Entry> m_entries;    //!< by PathId
    std::vector<Shape> m_shapes;     //!< all different
    InternIndex m_index;             //!< of m_entries
    std::vector<PathLink> m_scratch; //!< the path being interned
    std::unordered_multimap<uint64_t, uint32_t> m_shapesByHash;
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_PATH_TABLE_H
