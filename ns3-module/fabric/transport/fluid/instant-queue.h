// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLUID_INSTANT_QUEUE_H
#define WEIR_FABRIC_TRANSPORT_FLUID_INSTANT_QUEUE_H

#include "fabric/units.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/** The links of an item of an InstantQueue, stored in the item. */
struct InstantNode
{
    static constexpr uint32_t NONE = 0xffffffff;

    uint32_t next{NONE};
    uint32_t prev{NONE};
    uint32_t instant{NONE}; //!< the instant that it is queued for; NONE: not queued
};

/**
 * A time-ordered queue for batches. Items due at one instant share one entry of the heap, so that
 * work in lock-step costs O(1) per item and O(log n) per distinct instant of n.
 *
 * @tparam Items has `InstantNode& Node(uint32_t)`.
 */
template <typename Items>
class InstantQueue
{
  public:
    static constexpr uint32_t NONE = InstantNode::NONE;

    explicit InstantQueue(Items items)
        : m_items(items),
          m_buckets(1024, NONE)
    {
    }

    /** The earliest instant; infinite when empty. */
    Time FirstTime() const
    {
        return m_heap.empty() ? Time::Infinite() : m_instants[m_heap.front()].time;
    }

    void Insert(uint32_t item, Time time)
    {
        const uint32_t at = FindOrAdd(time);
        Instant& instant = m_instants[at];
        m_items.Node(item) = {NONE, instant.last, at};
        if (instant.last == NONE)
        {
            instant.first = item;
        }
        else
        {
            m_items.Node(instant.last).next = item;
        }
        instant.last = item;
    }

    /** Removes @p item, if it is queued. */
    void Remove(uint32_t item)
    {
        InstantNode& node = m_items.Node(item);
        if (node.instant == NONE)
        {
            return;
        }
        Instant& instant = m_instants[node.instant];
        (node.prev == NONE ? instant.first : m_items.Node(node.prev).next) = node.next;
        (node.next == NONE ? instant.last : m_items.Node(node.next).prev) = node.prev;
        if (instant.first == NONE)
        {
            Drop(node.instant);
        }
        node = InstantNode();
    }

    /** Removes one item of the earliest instant, in the order of insertion. @return the item */
    uint32_t PopFirst()
    {
        const uint32_t item = m_instants[m_heap.front()].first;
        Remove(item);
        return item;
    }

  private:
    struct Instant
    {
        Time time;
        uint32_t first;    //!< item
        uint32_t last;     //!< item
        uint32_t position; //!< in m_heap
        uint32_t sibling;  //!< next instant of the same hash bucket, or next free one
    };

    uint32_t& Bucket(Time time)
    {
        const auto hash = static_cast<uint64_t>(time.ToPicoseconds()) * 0x9e3779b97f4a7c15;
        return m_buckets[(hash >> 32) & (m_buckets.size() - 1)];
    }

    uint32_t FindOrAdd(Time time)
    {
        if (m_latest != NONE && m_instants[m_latest].time == time)
        {
            return m_latest;
        }
        for (uint32_t i = Bucket(time); i != NONE; i = m_instants[i].sibling)
        {
            if (m_instants[i].time == time)
            {
                return m_latest = i;
            }
        }
        if (m_heap.size() >= m_buckets.size())
        {
            GrowBuckets();
        }
        uint32_t at = m_free;
        if (at == NONE)
        {
            at = static_cast<uint32_t>(m_instants.size());
            m_instants.emplace_back();
        }
        else
        {
            m_free = m_instants[at].sibling;
        }
        uint32_t& bucket = Bucket(time);
        m_instants[at] = {time, NONE, NONE, 0, bucket};
        bucket = at;
        m_heap.push_back(at);
        Up(m_heap.size() - 1, at);
        return m_latest = at;
    }

    void Drop(uint32_t at)
    {
        uint32_t* link = &Bucket(m_instants[at].time);
        while (*link != at)
        {
            link = &m_instants[*link].sibling;
        }
        *link = m_instants[at].sibling;
        const uint32_t last = m_heap.back();
        m_heap.pop_back();
        if (last != at)
        {
            const std::size_t position = m_instants[at].position;
            if (position > 0 && Earlier(last, m_heap[(position - 1) / ARITY]))
            {
                Up(position, last);
            }
            else
            {
                Down(position, last);
            }
        }
        m_instants[at].time = Time::Infinite();
        m_instants[at].sibling = m_free;
        m_free = at;
        m_latest = m_latest == at ? NONE : m_latest;
    }

    void GrowBuckets()
    {
        m_buckets.assign(m_buckets.size() * 4, NONE);
        for (uint32_t i : m_heap)
        {
            uint32_t& bucket = Bucket(m_instants[i].time);
            m_instants[i].sibling = bucket;
            bucket = i;
        }
    }

    bool Earlier(uint32_t a, uint32_t b) const
    {
        return m_instants[a].time < m_instants[b].time;
    }

    void Put(std::size_t position, uint32_t instant)
    {
        m_heap[position] = instant;
        m_instants[instant].position = static_cast<uint32_t>(position);
    }

    void Up(std::size_t position, uint32_t instant)
    {
        for (; position > 0 && Earlier(instant, m_heap[(position - 1) / ARITY]);
             position = (position - 1) / ARITY)
        {
            Put(position, m_heap[(position - 1) / ARITY]);
        }
        Put(position, instant);
    }

    void Down(std::size_t position, uint32_t instant)
    {
        for (std::size_t first = position * ARITY + 1; first < m_heap.size();
             first = position * ARITY + 1)
        {
            std::size_t least = first;
            for (std::size_t c = first + 1; c < std::min(first + ARITY, m_heap.size()); c++)
            {
                least = Earlier(m_heap[c], m_heap[least]) ? c : least;
            }
            if (!Earlier(m_heap[least], instant))
            {
                break;
            }
            Put(position, m_heap[least]);
            position = least;
        }
        Put(position, instant);
    }

    static constexpr std::size_t ARITY = 4;

    Items m_items;
    std::vector<Instant> m_instants; //!< used and free
    std::vector<uint32_t> m_heap;    //!< instants in use, earliest first
    std::vector<uint32_t> m_buckets; //!< by hash of time: first instant; the size is a power of two
    uint32_t m_free{NONE};           //!< first free instant
    uint32_t m_latest{NONE};         //!< the instant found last
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLUID_INSTANT_QUEUE_H
