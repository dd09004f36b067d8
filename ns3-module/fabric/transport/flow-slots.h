// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLOW_SLOTS_H
#define WEIR_FABRIC_TRANSPORT_FLOW_SLOTS_H

#include "fabric/slot-pool.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace weir
{

/**
 * Number of the lowest bits of a FlowId, which hold the slot of the flow among the active flows of
 * its form. The bit above is the form, and the upper bits are the number of the start. An id is
 * thus unique, ordered by start among the flows of a form, and found without a search. Limits: 2^39
 * starts a run, 2^24 concurrent flows.
 */
constexpr uint32_t FLOW_SLOT_BITS = 24;

/** The form in which a flow moves. */
inline FlowForm
FormOfFlow(FlowId id)
{
    return static_cast<FlowForm>(id.value >> FLOW_SLOT_BITS & 1);
}

/**
 * The active flows of one form, in slots that are reused after their ends.
 * @tparam Flows vector or deque of flows, which have a member `uint64_t id`
 */
template <FlowForm FORM, typename Flows>
class FlowSlots : public SlotPool<Flows>
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    /**
     * Takes a slot for a flow that starts now, with a new id and otherwise default values.
     * @param transport name for the error
     * @throws std::length_error if all slots are in use
     */
    uint32_t Take(const char* transport)
    {
        const uint32_t slot = SlotPool<Flows>::Take();
        if (slot > SLOT_MASK)
        {
            throw std::length_error(std::string(transport) + ": more than 2^24 concurrent flows");
        }
        auto& flow = (*this)[slot];
        flow = {};
        flow.id = ++m_started << (FLOW_SLOT_BITS + 1) |
                  uint64_t{FORM == FlowForm::Packets} << FLOW_SLOT_BITS | slot;
        return slot;
    }

    /** Slot of a flow, also after its end until another takes the slot; else NONE. */
    uint32_t Find(FlowId id) const
    {
        const uint64_t slot = id.value & SLOT_MASK;
        return slot < this->Size() && (*this)[slot].id == id.value ? static_cast<uint32_t>(slot)
                                                                   : NONE;
    }

  private:
    static constexpr uint64_t SLOT_MASK = (uint64_t{1} << FLOW_SLOT_BITS) - 1;

    uint64_t m_started{0}; //!< flows started since the start of the run
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLOW_SLOTS_H
