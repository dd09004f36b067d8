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

/** How receivers have lost packets sent again. */
enum class LossRecovery : uint8_t
{
    ByRouting, //!< Selective where routing gives each packet a path of its own, else GoBackN
    GoBackN,   //!< from the first one that is missing
    Selective  //!< only those that are missing
};

/** When a flow has ended. */
enum class FlowEnd : uint8_t
{
    Received,    //!< the receiver has its last byte
    Acknowledged //!< the sender knows that
};

/** What wakes a queue pair whose next packet has its time. */
enum class PaceTimer : uint8_t
{
    QueuePair, //!< a timer of its own
    Port       //!< one timer of all queue pairs of a port, or an acknowledgment
};

/** Which of its paths the next packet of a sprayed queue pair takes. */
enum class PathChoice : uint8_t
{
    Turns,   //!< each in its turn
    Avoid,   //!< in turns, but those that were marked or trimmed
    Recycle, //!< one that was just answered without a mark, else in turns
    Mixed    //!< one that was just answered without a mark, else as Avoid
};

/** What packets look like. */
struct PacketFormat : Parameterized
{
    Bytes mtu{4096};
    std::optional<uint32_t> header; //!< open: as the links say, see FillHeader
    Bytes controlSize{84};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** What queue pairs do, whatever their congestion control. */
struct QueuePairSpec : Parameterized
{
    LossRecovery recovery{LossRecovery::ByRouting};
    uint32_t ackEvery{1};
    Time ackDelay{Time::Microseconds(10)};
    bool ackPriority{true};
    bool ackBitmap{false};
    Time retransmissionTimeout{Time::Milliseconds(4)};
    Time nackInterval{Time::Microseconds(500)};
    std::optional<uint32_t> reordering; //!< open: see FillRecovery
    uint32_t paths{64};
    bool distinctPaths{true};
    PathChoice pathChoice{PathChoice::Turns};
    Bytes window{Bytes(0)};
    Rate maxRate; //!< zero: the port's
    bool repace{true};
    PaceTimer paceTimer{PaceTimer::QueuePair};
    Time messageGap;
    FlowEnd flowEnd{FlowEnd::Received};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** What keeps packets from being lost between two devices of the network. */
enum class FlowControl : uint8_t
{
    None,   //!< nothing does
    Pfc,    //!< the receiver pauses the sender by traffic class (IEEE 802.1Qbb)
    Credits //!< the sender knows what room the receiver has (InfiniBand)
};

/** Where a switch looks at the queue to mark a packet. */
enum class MarkingPlace : uint8_t
{
    Dequeue,
    Enqueue
};

/** What switches do. A model of a switch is data: such values. */
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
    MarkingPlace markAt{MarkingPlace::Dequeue};
    bool marks{true};
    bool markRoots{false};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Which class of data a port serves next: see ClassArbiter. */
struct ArbitrationSpec : Parameterized
{
    std::string highTable;
    std::string lowTable;
    Bytes highLimit{Bytes(0)};

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Links inside nodes, and network adapters between these and the network. */
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
     * What is sent at once of a message of @p bytes: at most a sixteenth, so that the bursts of
     * flows that are paced alike, which come all at once, wait for each other no longer than that
     * part of what the port takes for the messages; at least 1 KiB.
     */
    uint32_t BurstOf(int64_t bytes) const;

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** What of a run in packets need not be simulated packet by packet. */
struct SettleSpec : Parameterized
{
    bool replay{false};
    double tolerance{0}; //!< more than zero: replay, too

    bool IsOn() const
    {
        return replay || tolerance > 0;
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** The packet transport in plain values. */
struct PacketSpec : Parameterized
{
    PacketFormat format;
    QueuePairSpec queuePair;
    SwitchSpec switches;
    ArbitrationSpec arbitration;
    NodeLinkSpec nodeLinks;
    SettleSpec settle;
    Polymorphic<CongestionControl> congestionControl{NoCongestionControl()};
    uint32_t trafficClasses{1};       //!< besides the one of control packets
    Time clock{Time::Picoseconds(1)}; //!< of transmission times: see WholeTime
    uint64_t seed{1};                 //!< of what switches draw when they mark or trim

    /** Those of no part. */
    void VisitParameters(ParameterVisitor& visitor) override;

    /**
     * What a transmission of @p time, ps, takes: whole picoseconds, or as many ticks of a coarser
     * clock as are less than it. A whole number of ticks is one less, as in HPCC's simulator:
     * seconds are rarely a number of 64 binary places there, and what is behind these is dropped.
     * What takes longer than 11 days takes as long as that.
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

    /** Its parts and their keys; the congestion control, which has kinds, is not among them. */
    std::vector<std::pair<const char*, Parameterized*>> Parts();
};

/** Where the header is open: such that full packets have @p framing of a link's raw rate. */
void FillHeader(PacketFormat& format, double framing);

/** What recovery and reordering leave open: by whether routing gives each packet its own path. */
void FillRecovery(QueuePairSpec& pair, bool isSprayed);

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_SPEC_H
