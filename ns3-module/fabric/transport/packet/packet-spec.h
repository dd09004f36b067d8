// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_SPEC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_SPEC_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/parameters/polymorphic.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/no-congestion-control.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** How lost packets are retransmitted. */
enum class LossRecovery : uint8_t
{
    ByRouting, //!< Selective where packets are sprayed, else GoBackN
    GoBackN,   //!< all packets from the first missing one
    Selective  //!< only missing packets
};

/** When a flow has ended. */
enum class FlowEnd : uint8_t
{
    Received,    //!< the receiver has received its last byte
    Acknowledged //!< the sender has received the last acknowledgment
};

/** Timer that wakes a queue pair when the pace of its next packet allows it. */
enum class PaceTimer : uint8_t
{
    QueuePair, //!< one timer per queue pair
    Port       //!< one timer per port for all its queue pairs; acknowledgments also wake them
};

/** How the path of the next packet of a sprayed queue pair is selected. */
enum class PathChoice : uint8_t
{
    RoundRobin,
    Avoid,   //!< round robin, skipping paths whose packets were marked or trimmed
    Recycle, //!< a path just acknowledged without a mark, else round robin
    Mixed    //!< a path just acknowledged without a mark, else as Avoid
};

/** Sizes and headers of packets. */
struct PacketFormat : Parameterized
{
    Bytes mtu{4096};
    std::optional<uint32_t> header; //!< bytes; empty: from the framing of the links, see FillHeader
    Bytes controlSize{84};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Transport parameters of queue pairs, independent of their congestion control. */
struct QueuePairSpec : Parameterized
{
    LossRecovery recovery{LossRecovery::ByRouting};
    uint32_t ackEvery{1};
    Time ackDelay{Time::Microseconds(10)};
    bool ackPriority{true};
    bool ackBitmap{false};
    Time retransmissionTimeout{Time::Milliseconds(4)};
    Time nackInterval{Time::Microseconds(500)};
    std::optional<uint32_t> reordering; //!< packets; empty: see FillRecovery
    uint32_t paths{64};
    bool distinctPaths{true};
    PathChoice pathChoice{PathChoice::RoundRobin};
    Bytes window{Bytes(0)};
    Rate maxRate; //!< zero: the port's rate
    bool repace{true};
    PaceTimer paceTimer{PaceTimer::QueuePair};
    Time messageGap;
    FlowEnd flowEnd{FlowEnd::Received};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Link-level flow control between two devices of the network. */
enum class FlowControl : uint8_t
{
    None,   //!< none: queues are lossy
    Pfc,    //!< the receiver pauses the sender by traffic class (IEEE 802.1Qbb)
    Credits //!< the sender knows the receiver's free buffer (InfiniBand)
};

/** When a switch compares the queue with its ECN thresholds. */
enum class MarkingPoint : uint8_t
{
    Dequeue,
    Enqueue
};

/** Parameters of switches. A switch model is such a set of values. */
struct SwitchSpec : Parameterized
{
    FlowControl flowControl{FlowControl::Pfc};
    uint32_t ports{0};
    Rate capacity;
    Time latency;
    Bytes buffer{Bytes::MiB(32)};
    Bytes cell{1};
    Bytes reserve{Bytes::KiB(4)};
    double alpha{0.125};
    Rate alphaRate;
    Bytes headroom{Bytes(0)};
    Bytes resumeOffset{Bytes::KiB(3)};
    Time pauseTime{Time::Infinite()};
    Bytes portQueue{Bytes(0)};
    uint32_t losslessClasses{1};
    bool classByHop{false};
    bool trim{false};
    double trimTail{0};
    Bytes controlQueue{Bytes(0)};
    uint32_t controlRun{1000};
    bool cutThrough{false};
    Bytes creditBuffer{Bytes(0)};
    Bytes creditUnit{Bytes(64)};
    Time creditDelay;
    Bytes markFrom{Bytes::KiB(100)};
    Bytes markAll{Bytes::KiB(400)};
    double markProbability{0.2};
    Rate markRate;
    MarkingPoint markAt{MarkingPoint::Dequeue};
    bool marks{true};
    bool markRoots{false};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Arbitration among the data classes of a port, see ClassArbiter. */
struct ArbitrationSpec : Parameterized
{
    std::string highTable;
    std::string lowTable;
    Bytes highLimit{Bytes(0)};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Parameters of links inside nodes and of network adapters. */
struct NodeLinkSpec : Parameterized
{
    Bytes nvlinkBuffer{Bytes(0)};
    Bytes pcieBuffer{Bytes(0)};
    Bytes pcieMaxPayload{256};
    uint32_t pciePostedHeaders{0};
    uint32_t pciePostedData{0};
    uint32_t pcieCompletionHeaders{0};
    uint32_t pcieCompletionData{0};
    uint32_t pcieReadTags{0};
    Bytes pcieReadRequest{512};
    Bytes nicBuffer{Bytes::MiB(2)};
    Bytes burst{Bytes::KiB(16)};

    /**
     * Burst size in bytes for a message of @p bytes: at most a sixteenth of the message and at
     * least 1 KiB. Equally paced flows send their bursts at the same time; with this bound they
     * wait for each other no longer than a sixteenth of the transmission time of the messages.
     */
    uint32_t BurstOf(int64_t bytes) const;

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Shortcuts: parts of a packet-level run that need not be simulated packet by packet. */
struct SettleSpec : Parameterized
{
    bool replay{false};
    double tolerance{0}; //!< relative; a value above zero also enables replay

    bool IsOn() const
    {
        return replay || tolerance > 0;
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Parameters of the packet transport. */
struct PacketSpec : Parameterized
{
    PacketFormat format;
    QueuePairSpec queuePair;
    SwitchSpec switches;
    ArbitrationSpec arbitration;
    NodeLinkSpec nodeLinks;
    SettleSpec settle;
    Polymorphic<CongestionControl> congestionControl{NoCongestionControl()};
    uint32_t trafficClasses{1};       //!< data classes, without that of control packets
    Time clock{Time::Picoseconds(1)}; //!< clock tick of transmission times, see WholeTime
    uint64_t seed{1};                 //!< seed of the random numbers for marking, trimming and loss

    /** Visits the parameters that belong to none of Parts. */
    void VisitParameters(ParameterVisitor& visitor) override;

    /**
     * Rounds a transmission time to the clock, ps: to whole picoseconds, or down to whole ticks of
     * a coarser clock. An exact number of ticks becomes one tick less, as in HPCC's simulator,
     * where seconds in 64-bit fixed point are rarely exact and are truncated. Longer times are
     * bounded to 10^18 ps, about 11 days.
     */
    int64_t WholeTime(double time) const
    {
        constexpr double EPSILON = 1e-3; // ps
        constexpr double LONGEST = 1e18; // ps
        const int64_t tick = clock.ToPicoseconds();
        return time >= LONGEST ? static_cast<int64_t>(LONGEST)
               : tick == 1     ? static_cast<int64_t>(time + 0.5)
                               : static_cast<int64_t>(time - EPSILON) / tick * tick;
    }

    /**
     * The parameter groups, each with its YAML key. The congestion control, which is polymorphic,
     * is not among them.
     */
    std::vector<std::pair<const char*, Parameterized*>> Parts();
};

/**
 * Fills in the header size if it is open: full packets then carry payload at @p framing of a link's
 * raw rate.
 */
void FillHeader(PacketFormat& format, double framing);

/** Fills in recovery and reordering if they are open, by whether routing sprays packets. */
void FillRecovery(QueuePairSpec& pair, bool isSprayed);

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_SPEC_H
