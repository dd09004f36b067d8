// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_COUNTERS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_COUNTERS_H

#include <cstdint>

namespace weir
{

/** Counters of a flow's data packets until its last byte has arrived. */
struct FlowCounters
{
    uint32_t marks{0}; //!< packets that arrived marked (ECN)
    uint32_t drops{0};
    uint32_t trims{0};
    uint32_t retransmissions{0};
    int64_t paused{0}; //!< time for which its sender's port was paused during the flow, ps

    friend bool operator==(const FlowCounters& a, const FlowCounters& b)
    {
        return a.marks == b.marks && a.drops == b.drops && a.trims == b.trims &&
               a.retransmissions == b.retransmissions && a.paused == b.paused;
    }
};

/** Counters of a port since the start of the run. */
struct PortCounters
{
    uint64_t packets{0};
    uint64_t bytes{0};     //!< bytes on the wire; inside nodes without headers
    int64_t busy{0};       //!< transmission time, ps
    int64_t backlogged{0}; //!< part of busy during which another packet waited, ps
    int64_t maxQueued{0};  //!< maximum bytes in one of its queues
    int64_t paused{0};     //!< time during which any class was paused, ps
    uint64_t marks{0};
    uint64_t drops{0}; //!< packets dropped before it, or lost on its link
    uint64_t trims{0};
    uint64_t pauses{0};          //!< pause frames received
    uint64_t retransmissions{0}; //!< data packets retransmitted by its device

    /** Adds the counters of another period. */
    PortCounters& operator+=(const PortCounters& other)
    {
        packets += other.packets;
        bytes += other.bytes;
        busy += other.busy;
        backlogged += other.backlogged;
        maxQueued = maxQueued > other.maxQueued ? maxQueued : other.maxQueued;
        paused += other.paused;
        marks += other.marks;
        drops += other.drops;
        trims += other.trims;
        pauses += other.pauses;
        retransmissions += other.retransmissions;
        return *this;
    }

    /** Subtracts the counters at an earlier instant; the maximum queue is kept. */
    PortCounters& operator-=(const PortCounters& earlier)
    {
        packets -= earlier.packets;
        bytes -= earlier.bytes;
        busy -= earlier.busy;
        backlogged -= earlier.backlogged;
        paused -= earlier.paused;
        marks -= earlier.marks;
        drops -= earlier.drops;
        trims -= earlier.trims;
        pauses -= earlier.pauses;
        retransmissions -= earlier.retransmissions;
        return *this;
    }

    /** The counters for the fraction @p part of the time; without the maximum queue. */
    PortCounters PartOf(double part) const
    {
        const auto of = [part](auto count) {
            return static_cast<decltype(count)>(static_cast<double>(count) * part);
        };
        PortCounters counters;
        counters.packets = of(packets);
        counters.bytes = of(bytes);
        counters.busy = of(busy);
        counters.backlogged = of(backlogged);
        counters.paused = of(paused);
        counters.marks = of(marks);
        counters.drops = of(drops);
        counters.trims = of(trims);
        counters.pauses = of(pauses);
        counters.retransmissions = of(retransmissions);
        return counters;
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_COUNTERS_H
