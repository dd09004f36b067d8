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
        ForEachSum(other, [](auto& count, auto more) { count += more; });
        maxQueued = maxQueued > other.maxQueued ? maxQueued : other.maxQueued;
        return *this;
    }

    /** Subtracts the counters at an earlier instant; the maximum queue is kept. */
    PortCounters& operator-=(const PortCounters& earlier)
    {
        ForEachSum(earlier, [](auto& count, auto before) { count -= before; });
        return *this;
    }

    /** The counters for the fraction @p part of the time; without the maximum queue. */
    PortCounters PartOf(double part) const
    {
        PortCounters counters;
        counters.ForEachSum(*this, [part](auto& count, auto whole) {
            count = static_cast<decltype(whole)>(static_cast<double>(whole) * part);
        });
        return counters;
    }

  private:
    /** Calls @p use(count, count of @p other) for each counter that is a sum over time. */
    template <typename Use>
    void ForEachSum(const PortCounters& other, const Use& use)
    {
        use(packets, other.packets);
        use(bytes, other.bytes);
        use(busy, other.busy);
        use(backlogged, other.backlogged);
        use(paused, other.paused);
        use(marks, other.marks);
        use(drops, other.drops);
        use(trims, other.trims);
        use(pauses, other.pauses);
        use(retransmissions, other.retransmissions);
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_COUNTERS_H
