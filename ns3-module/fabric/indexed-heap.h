// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_INDEXED_HEAP_H
#define WEIR_FABRIC_INDEXED_HEAP_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * A priority queue of indices whose keys may change: a 4-ary heap that records the position of each
 * index. The smallest key comes first; ties break by index. Set, Remove: O(log n).
 *
 * The caller owns the vector of positions, which is indexed by element and initially ABSENT. Heaps
 * of disjoint sets of indices can share one such vector.
 */
template <typename Key>
class PositionedHeap
{
  public:
    static constexpr uint32_t ABSENT = 0xffffffff; //!< position of an index that is in no heap

    void Reserve(std::size_t size)
    {
        m_entries.reserve(size);
    }

    bool Empty() const
    {
        return m_entries.empty();
    }

    uint32_t TopIndex() const
    {
        return m_entries.front().index;
    }

    Key TopKey() const
    {
        return m_entries.front().key;
    }

    /** Inserts @p index or changes its key. The index must not be in another heap. */
    void Set(uint32_t index, Key key, std::vector<uint32_t>& positions)
    {
        uint32_t at = positions[index];
        if (at == ABSENT)
        {
            at = static_cast<uint32_t>(m_entries.size());
            m_entries.push_back({key, index});
            Up(at, {key, index}, positions);
        }
        else if (key < m_entries[at].key)
        {
            Up(at, {key, index}, positions);
        }
        else
        {
            Down(at, {key, index}, positions);
        }
    }

    /** Removes all indices. O(size). */
    void Clear(std::vector<uint32_t>& positions)
    {
        for (const Entry& entry : m_entries)
        {
            positions[entry.index] = ABSENT;
        }
        m_entries.clear();
    }

    /** Removes @p index if it is present. */
    void Remove(uint32_t index, std::vector<uint32_t>& positions)
    {
        const uint32_t at = positions[index];
        if (at == ABSENT)
        {
            return;
        }
        positions[index] = ABSENT;
        const Entry last = m_entries.back();
        m_entries.pop_back();
        if (last.index == index)
        {
            return;
        }
        if (at > 0 && Less(last, m_entries[(at - 1) / ARITY]))
        {
            Up(at, last, positions);
        }
        else
        {
            Down(at, last, positions);
        }
    }

    /** Key of an index, which must be present. */
    Key KeyOf(uint32_t index, const std::vector<uint32_t>& positions) const
    {
        return m_entries[positions[index]].key;
    }

    /** Calls @p visit on every index, in unspecified order. */
    template <typename Visit>
    void ForEach(const Visit& visit) const
    {
        for (const Entry& entry : m_entries)
        {
            visit(entry.index);
        }
    }

    /** Lowers all keys by @p amount. O(size). */
    void LowerKeys(Key amount)
    {
        for (Entry& entry : m_entries)
        {
            entry.key -= amount;
        }
    }

  private:
    static constexpr uint32_t ARITY = 4;

    struct Entry
    {
        Key key;
        uint32_t index;
    };

    static bool Less(const Entry& a, const Entry& b)
    {
        return a.key < b.key || (!(b.key < a.key) && a.index < b.index);
    }

    void Put(uint32_t at, const Entry& entry, std::vector<uint32_t>& positions)
    {
        m_entries[at] = entry;
        positions[entry.index] = at;
    }

    void Up(uint32_t at, Entry entry, std::vector<uint32_t>& positions)
    {
        for (; at > 0 && Less(entry, m_entries[(at - 1) / ARITY]); at = (at - 1) / ARITY)
        {
            Put(at, m_entries[(at - 1) / ARITY], positions);
        }
        Put(at, entry, positions);
    }

    void Down(uint32_t at, Entry entry, std::vector<uint32_t>& positions)
    {
        const auto size = static_cast<uint32_t>(m_entries.size());
        for (uint32_t first = at * ARITY + 1; first < size; first = at * ARITY + 1)
        {
            uint32_t min = first;
            for (uint32_t c = first + 1; c < std::min(first + ARITY, size); c++)
            {
                min = Less(m_entries[c], m_entries[min]) ? c : min;
            }
            if (!Less(m_entries[min], entry))
            {
                break;
            }
            Put(at, m_entries[min], positions);
            at = min;
        }
        Put(at, entry, positions);
    }

    std::vector<Entry> m_entries;
};

/** A PositionedHeap that owns its positions. */
template <typename Key>
class IndexedHeap : private PositionedHeap<Key>
{
    using Heap = PositionedHeap<Key>;

  public:
    using Heap::Empty;
    using Heap::TopIndex;
    using Heap::TopKey;

    /** @param bound of the indices, without further calls of Grow */
    explicit IndexedHeap(std::size_t bound = 0)
        : m_positions(bound, Heap::ABSENT)
    {
        Heap::Reserve(bound);
    }

    /** Raises the bound of the indices. */
    void Grow(std::size_t bound)
    {
        m_positions.resize(bound, Heap::ABSENT);
    }

    /** Inserts @p index or changes its key. */
    void Set(uint32_t index, Key key)
    {
        Heap::Set(index, key, m_positions);
    }

    /** Removes all indices. O(size). */
    void Clear()
    {
        Heap::Clear(m_positions);
    }

    /** Removes @p index if it is present. */
    void Remove(uint32_t index)
    {
        Heap::Remove(index, m_positions);
    }

  private:
    std::vector<uint32_t> m_positions; //!< by index
};

} // namespace weir

#endif // WEIR_FABRIC_INDEXED_HEAP_H
