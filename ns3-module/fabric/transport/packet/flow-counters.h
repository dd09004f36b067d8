// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_FLOW_COUNTERS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_FLOW_COUNTERS_H

#include <cstdint>

namespace weir
{

/** What the data packets of a flow have met until its last byte was there. */
struct FlowCounters
{
    uint32_t marks{0}; //!< that arrived marked (ECN)
    uint32_t drops{0};
    uint32_t trims{0};
    uint32_t retransmissions{0};
    int64_t paused{0}; //!< ps in which its sender's port was paused while it was under way

    friend bool operator==(const FlowCounters& a, const FlowCounters& b)
    {
        return a.marks == b.marks && a.drops == b.drops && a.trims == b.trims &&
               a.retransmissions == b.retransmissions && a.paused == b.paused;
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_FLOW_COUNTERS_H
