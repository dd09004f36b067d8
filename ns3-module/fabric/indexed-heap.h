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
 * A priority queue of indices below a fixed bound whose keys may change: a 4-ary heap that knows
 * where each index stands. Smallest key first, ties by index. Set, Remove: O(log n).
 */
template <typename Key>
class IndexedHeap
{
  public:
    explicit IndexedHeap(std::size_t bound)
        : m_positions(bound, ABSENT)
    {
        m_entries.reserve(bound);
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

    /** Inserts @p index or gives it another key. */
    void Set(uint32_t index, Key key)
    {
        uint32_t at = m_positions[index];
        if (at == ABSENT)
        {
            at = static_cast<uint32_t>(m_entries.size());
            m_entries.push_back({key, index});
            Up(at, {key, index});
        }
        else if (key < m_entries[at].key)
        {
            Up(at, {key, index});
        }
        else
        {
            Down(at, {key, index});
        }
    }

    /** Takes all out. O(size). */
    void Clear()
    {
        for (const Entry& entry : m_entries)
        {
            m_positions[entry.index] = ABSENT;
        }
        m_entries.clear();
    }

    /** Takes @p index out, if it is in. */
    void Remove(uint32_t index)
    {
        const uint32_t at = m_positions[index];
        if (at == ABSENT)
        {
            return;
        }
        m_positions[index] = ABSENT;
        const Entry last = m_entries.back();
        m_entries.pop_back();
        if (last.index == index)
        {
            return;
        }
        if (at > 0 && Less(last, m_entries[(at - 1) / ARITY]))
        {
            Up(at, last);
        }
        else
        {
            Down(at, last);
        }
    }

  private:
    static constexpr uint32_t ABSENT = 0xffffffff;
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

    void Put(uint32_t at, const Entry& entry)
    {
        m_entries[at] = entry;
        m_positions[entry.index] = at;
    }

    void Up(uint32_t at, Entry entry)
    {
        for (; at > 0 && Less(entry, m_entries[(at - 1) / ARITY]); at = (at - 1) / ARITY)
        {
            Put(at, m_entries[(at - 1) / ARITY]);
        }
        Put(at, entry);
    }

    void Down(uint32_t at, Entry entry)
    {
        const auto size = static_cast<uint32_t>(m_entries.size());
        for (uint32_t first = at * ARITY + 1; first < size; first = at * ARITY + 1)
        {
            uint32_t least = first;
            for (uint32_t c = first + 1; c < std::min(first + ARITY, size); c++)
            {
                least = Less(m_entries[c], m_entries[least]) ? c : least;
            }
            if (!Less(m_entries[least], entry))
            {
                break;
            }
            Put(at, m_entries[least]);
            at = least;
        }
        Put(at, entry);
    }

    std::vector<Entry> m_entries;
    std::vector<uint32_t> m_positions; //!< by index: where in m_entries, or ABSENT
};

} // namespace weir

#endif // WEIR_FABRIC_INDEXED_HEAP_H
