// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SLOT_POOL_H
#define WEIR_FABRIC_SLOT_POOL_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Values by slot; free slots are reused, the last one first.
 * @tparam Values a vector or deque of them
 */
template <typename Values>
class SlotPool
{
  public:
    using Value = typename Values::value_type;

    /** @return a free slot, with the value that was left there. */
    uint32_t Take()
    {
        if (m_free.empty())
        {
            m_values.emplace_back();
            return static_cast<uint32_t>(m_values.size() - 1);
        }
        const uint32_t slot = m_free.back();
        m_free.pop_back();
        return slot;
    }

    /** Releases a slot. Its value remains until the slot is taken again. */
    void Free(uint32_t slot)
    {
        m_free.push_back(slot);
    }

    Value& operator[](std::size_t slot)
    {
        return m_values[slot];
    }

    const Value& operator[](std::size_t slot) const
    {
        return m_values[slot];
    }

    /** Number of slots, free or not. */
    std::size_t Size() const
    {
        return m_values.size();
    }

  private:
    Values m_values;
    std::vector<uint32_t> m_free;
};

} // namespace weir

#endif // WEIR_FABRIC_SLOT_POOL_H
