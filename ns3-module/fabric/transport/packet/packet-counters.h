// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_COUNTERS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_COUNTERS_H

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

/** What a port has done since the beginning. */
struct PortCounters
{
    uint64_t packets{0};
    uint64_t bytes{0};     //!< on the wire; inside nodes without headers
    int64_t busy{0};       //!< ps in which it sent
    int64_t backlogged{0}; //!< of these, ps after which another packet waited already
    int64_t maxQueued{0};  //!< bytes in one of its queues
    int64_t paused{0};     //!< ps in which some class was paused
    uint64_t marks{0};
    uint64_t drops{0}; //!< packets for it, and on it when it failed
    uint64_t trims{0};
    uint64_t pauses{0};          //!< pauses that reached it
    uint64_t retransmissions{0}; //!< data packets that its device has sent again

    /** Adds what it did at other times. */
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

    /** Takes away what it did until some instant, but for the longest queue. */
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

    /** What it does in @p part of the time, but for the longest queue. */
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
