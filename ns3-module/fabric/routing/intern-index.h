// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ROUTING_INTERN_INDEX_H
#define WEIR_FABRIC_ROUTING_INTERN_INDEX_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir
{

/**
 * Finds ids of interned values by their hash: open addressing in a table of 2^n slots, 11 to 16
 * bytes per value. The caller stores the values.
 */
class InternIndex
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    /** The id with hash @p hash for which @p isEqual(id) holds; NONE if there is none. */
    template <typename IsEqual>
    uint32_t Find(uint32_t hash, const IsEqual& isEqual) const
    {
        if (m_slots.empty())
        {
            return NONE;
        }
        const std::size_t mask = m_slots.size() - 1;
        std::size_t at = hash & mask;
        while (m_slots[at].id != NONE && !(m_slots[at].hash == hash && isEqual(m_slots[at].id)))
        {
            at = (at + 1) & mask;
        }
        return m_slots[at].id;
    }

    /** Adds an id that Find does not find. Amortized O(1). */
    void Insert(uint32_t hash, uint32_t id)
    {
        if (4 * (m_count + 1) > 3 * m_slots.size())
        {
            Grow();
        }
        Put(m_slots, {hash, id});
        m_count++;
    }

  private:
    struct Slot
    {
        uint32_t hash{0};
        uint32_t id{NONE}; //!< NONE: the slot is free
    };

    static void Put(std::vector<Slot>& slots, Slot slot)
    {
        const std::size_t mask = slots.size() - 1;
        std::size_t at = slot.hash & mask;
        while (slots[at].id != NONE)
        {
            at = (at + 1) & mask;
        }
        slots[at] = slot;
    }

    void Grow()
    {
        constexpr std::size_t FIRST_SLOTS = 64;
        std::vector<Slot> grown(std::max(FIRST_SLOTS, 2 * m_slots.size()));
        for (const Slot& slot : m_slots)
        {
            if (slot.id != NONE)
            {
                Put(grown, slot);
            }
        }
        m_slots = std::move(grown);
    }

    std::vector<Slot> m_slots;
    std::size_t m_count{0};
};

/** Mixes @p value into @p hash by a multiplication and folding the high bits down. */
inline uint64_t
MixHash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15; // 2^64 over the golden ratio: Knuth, TAOCP 3, 6.4
    return hash ^ hash >> 32;
}

} // namespace weir

#endif // WEIR_FABRIC_ROUTING_INTERN_INDEX_H
