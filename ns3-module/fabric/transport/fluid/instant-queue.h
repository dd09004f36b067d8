// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLUID_INSTANT_QUEUE_H
#define WEIR_FABRIC_TRANSPORT_FLUID_INSTANT_QUEUE_H

#include "fabric/indexed-heap.h"
#include "fabric/units.h"

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
        return m_heap.Empty() ? Time::Infinite() : m_heap.TopKey();
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
        const uint32_t item = m_instants[m_heap.TopIndex()].first;
        Remove(item);
        return item;
    }

  private:
    struct Instant
    {
        Time time;
        uint32_t first;   //!< item
        uint32_t last;    //!< item
        uint32_t sibling; //!< next instant of the same hash bucket, or next free one
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
        uint32_t at = m_free;
        if (at == NONE)
        {
            if (m_instants.size() >= m_buckets.size())
            {
                GrowBuckets();
            }
            at = static_cast<uint32_t>(m_instants.size());
            m_instants.emplace_back();
            m_heap.Grow(m_instants.size());
        }
        else
        {
            m_free = m_instants[at].sibling;
        }
        uint32_t& bucket = Bucket(time);
        m_instants[at] = {time, NONE, NONE, bucket};
        bucket = at;
        m_heap.Set(at, time);
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
        m_heap.Remove(at);
        m_instants[at].time = Time::Infinite();
        m_instants[at].sibling = m_free;
        m_free = at;
        m_latest = m_latest == at ? NONE : m_latest;
    }

    /** Enlarges the hash table; no instant is free. */
    void GrowBuckets()
    {
        m_buckets.assign(m_buckets.size() * 4, NONE);
        for (uint32_t i = 0; i < m_instants.size(); i++)
        {
            uint32_t& bucket = Bucket(m_instants[i].time);
            m_instants[i].sibling = bucket;
            bucket = i;
        }
    }

    Items m_items;
    std::vector<Instant> m_instants; //!< used and free
    IndexedHeap<Time> m_heap;        //!< instants in use
    std::vector<uint32_t> m_buckets; //!< by hash of time: first instant; the size is a power of
                                     //!< two
    uint32_t m_free{NONE};           //!< first free instant
    uint32_t m_latest{NONE};         //!< the instant found last
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLUID_INSTANT_QUEUE_H
