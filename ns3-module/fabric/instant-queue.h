// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_INSTANT_QUEUE_H
#define WEIR_FABRIC_INSTANT_QUEUE_H

#include "fabric/indexed-heap.h"
#include "fabric/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * A time-ordered queue of indices, for batches. Indices due at one instant share one entry of the
 * heap, so that work in lock-step costs O(1) per index and O(log n) per distinct instant of n.
 */
class InstantQueue
{
  public:
    InstantQueue()
        : m_buckets(1024, NONE)
    {
    }

    /** The earliest instant; infinite when empty. */
    Time FirstTime() const
    {
        return m_heap.Empty() ? Time::Infinite() : m_heap.TopKey();
    }

    /** Queues @p index for @p time, at which it becomes the last. If it is queued, it is moved. */
    void Set(uint32_t index, Time time)
    {
        Remove(index);
        if (index >= m_nodes.size())
        {
            m_nodes.resize(index + 1);
        }
        const uint32_t at = FindOrAdd(time);
        Instant& instant = m_instants[at];
        m_nodes[index] = {NONE, instant.last, at};
        (instant.last == NONE ? instant.first : m_nodes[instant.last].next) = index;
        instant.last = index;
    }

    /** Removes @p index, if it is queued. */
    void Remove(uint32_t index)
    {
        if (index >= m_nodes.size() || m_nodes[index].instant == NONE)
        {
            return;
        }
        Node& node = m_nodes[index];
        Instant& instant = m_instants[node.instant];
        (node.prev == NONE ? instant.first : m_nodes[node.prev].next) = node.next;
        (node.next == NONE ? instant.last : m_nodes[node.next].prev) = node.prev;
        if (instant.first == NONE)
        {
            Drop(node.instant);
        }
        node = Node();
    }

    /** Removes the first index of the earliest instant, in the order of Set. @return the index */
    uint32_t PopFirst()
    {
        const uint32_t index = m_instants[m_heap.TopIndex()].first;
        Remove(index);
        return index;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /** An index in the list of its instant. */
    struct Node
    {
        uint32_t next{NONE};
        uint32_t prev{NONE};
        uint32_t instant{NONE}; //!< NONE: not queued
    };

    struct Instant
    {
        Time time;
        uint32_t first;   //!< index
        uint32_t last;    //!< index
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

    std::vector<Node> m_nodes;       //!< by index
    std::vector<Instant> m_instants; //!< used and free
    IndexedHeap<Time> m_heap;        //!< instants in use
    std::vector<uint32_t> m_buckets; //!< by hash of time: first instant; the size is a power of
                                     //!< two
    uint32_t m_free{NONE};           //!< first free instant
    uint32_t m_latest{NONE};         //!< the instant found last
};

} // namespace weir

#endif // WEIR_FABRIC_INSTANT_QUEUE_H
