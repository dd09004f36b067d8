// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLOW_SLOTS_H
#define WEIR_FABRIC_TRANSPORT_FLOW_SLOTS_H

#include "fabric/transport/transport.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

/**
 * The active flows of a transport, in slots that are reused after their ends.
 *
 * A FlowId holds the number of the start in its upper bits and the slot in its lower bits. It is
 * unique, ordered by start, and found without a search. Limits: 2^40 starts a run, 2^24 concurrent
 * flows.
 *
 * @tparam Flows vector or deque of flows, which have a member `uint64_t id`
 */
template <typename Flows>
class FlowSlots
{
  public:
    using Flow = typename Flows::value_type;

    static constexpr uint32_t NONE = 0xffffffff;

    /**
     * Takes a slot for a flow that starts now, with a new id and otherwise default values.
     * @param transport name for the error
     * @throws std::length_error if all slots are in use
     */
    uint32_t Take(const char* transport)
    {
        uint32_t slot;
        if (m_unused.empty())
        {
            slot = static_cast<uint32_t>(m_flows.size());
            if (slot > SLOT_MASK)
            {
                throw std::length_error(std::string(transport) +
                                        ": more than 2^24 concurrent flows");
            }
            m_flows.emplace_back();
        }
        else
        {
            slot = m_unused.back();
            m_unused.pop_back();
            m_flows[slot] = Flow();
        }
        m_flows[slot].id = ++m_started << SLOT_BITS | slot;
        return slot;
    }

    /** Releases a slot. Its flow remains until another takes the slot. */
    void Free(uint32_t slot)
    {
        m_unused.push_back(slot);
    }

    /** Slot of a flow, also after its end until another takes the slot; else NONE. */
    uint32_t Find(FlowId id) const
    {
        const uint64_t slot = id.value & SLOT_MASK;
        return slot < m_flows.size() && m_flows[slot].id == id.value ? static_cast<uint32_t>(slot)
                                                                     : NONE;
    }

    Flow& operator[](std::size_t slot)
    {
        return m_flows[slot];
    }

    const Flow& operator[](std::size_t slot) const
    {
        return m_flows[slot];
    }

    /** Number of slots, in use or not. */
    std::size_t Size() const
    {
        return m_flows.size();
    }

  private:
    static constexpr uint32_t SLOT_BITS = 24;
    static constexpr uint64_t SLOT_MASK = (uint64_t{1} << SLOT_BITS) - 1;

    Flows m_flows;
    std::vector<uint32_t> m_unused;
    uint64_t m_started{0}; //!< flows started since the start of the run
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLOW_SLOTS_H
