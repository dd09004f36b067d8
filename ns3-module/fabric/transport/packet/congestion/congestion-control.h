// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROL_H
#define WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROL_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/units.h"

#include <cstdint>
#include <limits>
#include <memory>

namespace weir
{

/** What a congestion control may know of a connection before its first packet. */
struct ConnectionFacts
{
    double lineRate{0};       //!< that the sender may send at, bytes/s on the wire
    double portRate{0};       //!< of its port, where that is more; else as lineRate, or zero
    double bottleneckRate{0}; //!< the least of the path, on the wire, too
    Time baseRtt;             //!< one full packet there and its acknowledgment back, queues empty
    uint32_t mtu{0};          //!< payload bytes of a full packet
    bool isInside{false}; //!< a node: packets are bursts, mtu the largest (NodeLinkSpec::BurstOf)
    uint32_t header{0};   //!< bytes of headers a packet
    uint32_t hops{0};     //!< links of the path
    uint32_t receiverLink{0}; //!< the one by which packets leave the network
    double receiverRate{0};   //!< of that link, bytes/s on the wire

    /** Where a congestion control begins that does not know of a limit below the port's rate. */
    double StartRate() const
    {
        return portRate > lineRate ? portRate : lineRate;
    }

    /** Bytes that fill the path: bottleneck rate times baseRtt. */
    double BandwidthDelay() const
    {
        return bottleneckRate * baseRtt.ToSeconds();
    }
};

/** What an acknowledgment tells the sender. */
struct Acknowledgment
{
    Time now;
    Time rtt;          //!< since the packet that it answers was sent, less what the receiver waited
    uint32_t bytes{0}; //!< payload that it newly acknowledges
    bool isMarked{false};                //!< that packet had met congestion (ECN)
    uint64_t next{0};                    //!< the packet that the receiver expects next
    uint64_t sent{0};                    //!< the packet that the sender sends next
    const Telemetry* telemetry{nullptr}; //!< what switches wrote into that packet, or null
};

/**
 * How fast one queue pair may send. Rates are bytes/s on the wire, headers included; windows count
 * payload bytes that are not acknowledged.
 */
class SenderControl
{
  public:
    static constexpr double NO_WINDOW = std::numeric_limits<double>::infinity();

    virtual ~SenderControl() = default;

    /** The pace of packets. */
    double PacingRate() const
    {
        return m_rate;
    }

    /** The most bytes under way. */
    double Window() const
    {
        return m_window;
    }

    /**
     * Whether what it knows stays as it is while packets do the same again and again, at one rate
     * and window, or makes no difference.
     */
    virtual bool HasSettled() const
    {
        return true;
    }

    virtual void OnAck(const Acknowledgment& ack)
    {
    }

    /** A congestion notification packet came. */
    virtual void OnNotification(Time now)
    {
    }

    /**
     * Packets were lost, or trimmed.
     * @param bytes payload of them
     */
    virtual void OnLoss(Time now, int64_t bytes)
    {
    }

    /** A packet of @p bytes on the wire is sent. */
    virtual void OnSent(uint32_t bytes, Time now)
    {
    }

    /** When it wants to be told of the time; infinite: not. */
    virtual Time NextTimer() const
    {
        return Time::Infinite();
    }

    /** It is NextTimer(). */
    virtual void OnTimer(Time now)
    {
    }

  protected:
    double m_rate{0};           //!< bytes/s
    double m_window{NO_WINDOW}; //!< bytes
};

/** What a packet tells the port that receives it. */
struct Arrival
{
    Time now;
    Time baseRtt;          //!< of its connection
    uint32_t bytes{0};     //!< on the wire, as it came
    bool isTrimmed{false}; //!< only its header came
};

/** How fast one receiving port gives credit. */
class ReceiverControl
{
  public:
    virtual ~ReceiverControl() = default;

    /** The rate of the credit, bytes/s on the wire. */
    virtual double Rate() const = 0;

    /** A packet came, whole or trimmed. */
    virtual void OnArrival(const Arrival& arrival) = 0;
};

/**
 * A congestion control: the parameters of all its queue pairs. A class of its own in a file of its
 * own, and one line of CongestionControls().
 */
class CongestionControl : public Component
{
  public:
    /** The name is what `congestionControl.kind` says. */
    using Component::Component;

    /** The state of a connection that is about to send its first packet. */
    virtual std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const = 0;

    /** Whether switches write telemetry into its packets. */
    virtual bool WantsTelemetry() const
    {
        return false;
    }

    /** The part of a link's rate that it lets flows use, all together. */
    virtual double TargetUtilization() const
    {
        return 1;
    }

    /** What its data packets carry in headers besides, bytes. */
    virtual uint32_t HeaderBytes() const
    {
        return 0;
    }

    /**
     * The time in which its timers come round: what it does is averaged over no less. Zero: it has
     * none, and swings within a few round trips.
     */
    virtual Time Period() const
    {
        return Time();
    }

    /**
     * The least time between two congestion notification packets that a receiver sends for marked
     * packets of one queue pair; infinite: it sends none, and acknowledgments echo the marks.
     */
    virtual Time NotificationInterval() const
    {
        return Time::Infinite();
    }

    /**
     * Full packets that a receiver lets a sender send at a time, at the pace of the link by which
     * they leave the network and to its senders in turns; zero: senders need no credit.
     */
    virtual uint32_t CreditPackets() const
    {
        return 0;
    }

    /** The state of a port that receives at @p rate bytes/s; null where senders need no credit. */
    virtual std::unique_ptr<ReceiverControl> OpenReceiver(double rate) const
    {
        return nullptr;
    }

    /**
     * Whether a packet is sent only where the window has room for all of it (or nothing is under
     * way), as in TCP; otherwise the last packet may reach beyond the window, as in HPCC's
     * simulator.
     */
    virtual bool SendsWithinWindow() const
    {
        return false;
    }

    /** Payload bytes that a sender sends without credit while nothing else of it is in flight. */
    virtual double StartCredit(const ConnectionFacts& facts) const
    {
        return std::numeric_limits<double>::infinity();
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROL_H
