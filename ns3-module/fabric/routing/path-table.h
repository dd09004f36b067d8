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

/** A link of a path and the number of times that each byte of the flow crosses it. */
struct PathLink
{
    LinkId link;
    uint32_t multiplicity{1};
};

/** Sorts by link and merges repeated links into multiplicities. */
void CountRepeated(std::vector<PathLink>& links);

/** A link and the average fraction of each byte of a flow that crosses it. */
struct LinkShare
{
    LinkId link;
    double share{1};
};

/**
 * The links of a flow: a fraction multiplicity / unit of its bytes crosses each link of the path.
 */
struct FlowPath
{
    PathId path;
    uint32_t unit{1}; //!< 1: the flow is not divided

    friend bool operator==(FlowPath a, FlowPath b)
    {
        return a.path == b.path && a.unit == b.unit;
    }
};

/** A path chosen for a flow by switches. */
struct SelectedPath
{
    PathId path;
    uint32_t unit{1}; //!< the flow moves 1 / unit of its bytes, with 1 / unit of its weight and cap
    Time latency;     //!< latency minus that of the planned path
};

/**
 * Interned paths. Each distinct sequence of links has one PathId, so that one comparison tells
 * whether flows share a path, and each path is stored once.
 *
 * A path keeps its hops in order; the load of a flow on each link follows from it. Traffic that
 * does not go hop by hop (the sum of several routes, a multicast in a switch) is interned as links
 * with multiplicities.
 *
 * A path takes 4 bytes per distinct link (8 if one is crossed more than once), plus 19 to 29 bytes.
 */
class PathTable
{
  public:
    explicit PathTable(const Topology& topology);

    /**
     * The id of the path over @p hops in order. If a link is crossed more than once, the path is
     * stored as links with multiplicities. The empty path is valid and unconstrained (source and
     * destination are the same device). Amortized O(links log links).
     * @throws std::invalid_argument if a link does not exist.
     * @throws std::length_error if all paths combined have more than 2^32 links, links with
     *         multiplicities counted twice.
     */
    PathId Intern(const std::vector<LinkId>& hops);

    /**
     * The id of a set of links with multiplicities, given in any order, each link once. Links of
     * multiplicity zero are dropped.
     * @throws std::invalid_argument if a link does not exist or is given twice.
     * @throws std::length_error as Intern does.
     */
    PathId InternCounted(const std::vector<PathLink>& links);

    /**
     * The links of a flow that is divided evenly over @p paths, which may contain duplicates and
     * must not be empty.
     */
    FlowPath InternDivided(const std::vector<PathId>& paths);

    /**
     * Hops in order, or links with multiplicities ascending by id; each link once. Valid until the
     * next Intern.
     */
    class Span
    {
      public:
        /** Iterates over the links and returns them by value. */
        class Iterator
        {
          public:
            using iterator_category = std::input_iterator_tag;
            using value_type = PathLink;
            using difference_type = std::ptrdiff_t;
            using pointer = void;
            using reference = PathLink;

            Iterator(const uint32_t* link, std::ptrdiff_t toCount)
                : m_link(link),
                  m_toCount(toCount)
            {
            }

            PathLink operator*() const
            {
                return {LinkId(*m_link), m_toCount == 0 ? 1 : m_link[m_toCount]};
            }

            Iterator& operator++()
            {
                ++m_link;
                return *this;
            }

            Iterator operator++(int)
            {
                const Iterator before = *this;
                ++m_link;
                return before;
            }

            friend bool operator==(Iterator a, Iterator b)
            {
                return a.m_link == b.m_link;
            }

            friend bool operator!=(Iterator a, Iterator b)
            {
                return a.m_link != b.m_link;
            }

          private:
            const uint32_t* m_link;
            std::ptrdiff_t m_toCount; //!< offset from a link to its multiplicity; 0: it is one
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

        PathLink operator[](std::size_t i) const
        {
            return *Iterator(m_first + i, m_toCount);
        }

        PathLink front() const
        {
            return (*this)[0];
        }

        PathLink back() const
        {
            return (*this)[m_size - 1];
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

    /** The sum of the links' latencies, weighted by multiplicity. */
    Time Latency(PathId path) const
    {
        return m_shapes[m_entries[path.Index()].shape].latency;
    }

    /**
     * The rate of an uncontended flow: the minimum of rate / multiplicity; infinite for the empty
     * path.
     */
    Rate BottleneckRate(PathId path) const
    {
        return m_shapes[m_entries[path.Index()].shape].bottleneck;
    }

    std::size_t Size() const
    {
        return m_entries.size();
    }

  private:
    struct Entry
    {
        uint32_t first; //!< into m_links
        uint32_t shape; //!< into m_shapes
    };

    /** Values that many paths share. A fabric of similar links has few shapes. */
    struct Shape
    {
        uint32_t count;  //!< number of distinct links
        bool isCounted;  //!< a link is crossed more than once
        Time latency;    //!< sum over links
        Rate bottleneck; //!< at the rates of the topology
    };

    void CheckLink(LinkId link) const;

    /** The id of the path in m_scratch. */
    PathId InternScratch();

    bool IsScratch(PathId path) const;

    /** Adds the path in m_scratch. */
    PathId Append();
    uint32_t ShapeOfScratch();

    const Topology& m_topology;
    std::vector<uint32_t> m_links;   //!< path by path: links, then multiplicities, if any
    std::vector<Entry> m_entries;    //!< by PathId
    std::vector<Shape> m_shapes;     //!< distinct
    InternIndex m_index;             //!< of m_entries
    std::vector<PathLink> m_scratch; //!< the path being interned
    std::unordered_multimap<uint64_t, uint32_t> m_shapesByHash;
};

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_PATH_TABLE_H
