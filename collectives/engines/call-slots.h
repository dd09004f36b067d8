// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_CALL_SLOTS_H
#define WEIR_COLLECTIVES_ENGINES_CALL_SLOTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * The state that an engine keeps of each call in progress, by slot. Slots of ended calls are
 * reused.
 */
template <typename Call>
class CallSlots
{
  public:
    /** @return the slot of a new call, with the state that an earlier call has left there. */
    uint32_t Take()
    {
        if (m_free.empty())
        {
            m_calls.emplace_back();
            return static_cast<uint32_t>(m_calls.size() - 1);
        }
        const uint32_t slot = m_free.back();
        m_free.pop_back();
        return slot;
    }

    void Free(uint32_t slot)
    {
        m_free.push_back(slot);
    }

    Call& operator[](std::size_t slot)
    {
        return m_calls[slot];
    }

    const Call& operator[](std::size_t slot) const
    {
        return m_calls[slot];
    }

  private:
    std::vector<Call> m_calls;
    std::vector<uint32_t> m_free; //!< slots without a call
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_CALL_SLOTS_H
