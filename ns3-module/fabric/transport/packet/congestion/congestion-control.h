// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROL_H
#define WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROL_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/parameters/registry.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/units.h"

#include <cstdint>
#include <limits>
#include <memory>

namespace weir
{

/** Properties of a connection that a congestion control knows before its first packet. */
struct ConnectionFacts
{
    double lineRate{0};       //!< highest rate of the sender, bytes/s on the wire
    double portRate{0};       //!< rate of its port, if higher; else lineRate or zero
    double bottleneckRate{0}; //!< lowest rate of the path, bytes/s on the wire
    Time baseRtt;             //!< round trip of a full packet and its acknowledgment with empty
                              //!< queues
    uint32_t mtu{0};          //!< payload bytes of a full packet
    bool isInside{false};     //!< inside a node: packets are bursts of at most mtu bytes
                              //!< (NodeLinkSpec::BurstOf)
    uint32_t header{0};       //!< header bytes of a packet
    uint32_t hops{0};         //!< number of links of the path
    uint32_t receiverLink{0}; //!< link by which packets leave the network
    double receiverRate{0};   //!< rate of that link, bytes/s on the wire

    /** Start rate of a congestion control that ignores limits below the port's rate, bytes/s. */
    double StartRate() const
    {
        return portRate > lineRate ? portRate : lineRate;
    }

    /** Bandwidth-delay product: bottleneck rate times baseRtt, bytes. */
    double BandwidthDelay() const
    {
        return bottleneckRate * baseRtt.ToSeconds();
    }
};

/** Contents of an acknowledgment. */
struct Acknowledgment
{
    Time now;
    Time rtt;             //!< round trip of the acknowledged packet, without the time that the
                          //!< receiver waited
    uint32_t bytes{0};    //!< newly acknowledged payload bytes
    bool isMarked{false}; //!< that packet was ECN-marked
    uint64_t next{0};     //!< number of the packet that the receiver expects next
    uint64_t sent{0};     //!< number of the packet that the sender sends next
    const Telemetry* telemetry{nullptr}; //!< telemetry of that packet, or null
};

/**
 * Congestion control state of one queue pair; by itself, a constant rate and window. Rates are
 * bytes/s on the wire, headers included; windows count unacknowledged payload bytes.
 */
class SenderControl
{
  public:
    static constexpr double NO_WINDOW = std::numeric_limits<double>::infinity();

    explicit SenderControl(double rate, double window = NO_WINDOW)
        : m_rate(rate),
          m_window(window)
    {
    }

    virtual ~SenderControl() = default;

    /** Pacing rate, bytes/s on the wire. */
    double PacingRate() const
    {
        return m_rate;
    }

    /** Congestion window, payload bytes. */
    double Window() const
    {
        return m_window;
    }

    /**
     * Whether the internal state no longer changes, or no longer matters, while packets repeat
     * themselves at one rate and window.
     */
    virtual bool HasSettled() const
    {
        return true;
    }

    virtual void OnAck(const Acknowledgment& ack)
    {
    }

    /** A congestion notification packet has arrived. */
    virtual void OnNotification(Time now)
    {
    }

    /** Packets were lost or trimmed. @param bytes payload bytes of these packets */
    virtual void OnLoss(Time now, int64_t bytes)
    {
    }

    /** A packet of @p bytes on the wire is sent. */
    virtual void OnSent(uint32_t bytes, Time now)
    {
    }

    /** Time of the next call of OnTimer; infinite if none. */
    virtual Time NextTimer() const
    {
        return Time::Infinite();
    }

    /** The time NextTimer() has come. */
    virtual void OnTimer(Time now)
    {
    }

  protected:
    SenderControl() = default;

    double m_rate{0};           //!< bytes/s
    double m_window{NO_WINDOW}; //!< bytes
};

/** Arrival of a packet at the receiving port. */
struct Arrival
{
    Time now;
    Time baseRtt;          //!< base round trip of its connection
    uint32_t bytes{0};     //!< bytes on the wire, as received
    bool isTrimmed{false}; //!< only its header has arrived
};

/** Credit rate of one receiving port. */
class ReceiverControl
{
  public:
    virtual ~ReceiverControl() = default;

    /** Rate of credit, bytes/s on the wire. */
    virtual double Rate() const = 0;

    /** A packet has arrived, whole or trimmed. */
    virtual void OnArrival(const Arrival& arrival) = 0;
};

/**
 * A congestion control algorithm: the parameters of all its queue pairs. Each algorithm is a class
 * in its own file and one line of CongestionControls().
 */
class CongestionControl : public Component
{
  public:
    /** The name is the value of `congestionControl.kind`. */
    using Component::Component;

    /**
     * Checks values whose range depends on others, beside the ranges of VisitParameters.
     * @throws std::invalid_argument naming the key, such as "congestionControl.low: found ...,
     *         expected ...".
     */
    virtual void Check() const
    {
    }

    /** Creates the state of a connection that is about to send its first packet. */
    virtual std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const = 0;

    /** Whether switches write telemetry into its packets. */
    virtual bool WantsTelemetry() const
    {
        return false;
    }

    /** Fraction of a link's rate that it lets all flows use in total. */
    virtual double TargetUtilization() const
    {
        return 1;
    }

    /** Additional header bytes of its data packets. */
    virtual uint32_t HeaderBytes() const
    {
        return 0;
    }

    /**
     * Longest period of its timers; averages of its behavior must span at least this. Zero: it has
     * no timers, and oscillates within a few round trips.
     */
    virtual Time Period() const
    {
        return Time();
    }

    /**
     * Minimum interval between two congestion notification packets that a receiver sends for marked
     * packets of one queue pair. Infinite: it sends none, and acknowledgments echo the marks.
     */
    virtual Time NotificationInterval() const
    {
        return Time::Infinite();
    }

    /**
     * Full packets per credit grant of a receiver, which serves its senders round robin at the pace
     * of the link by which their packets leave the network. Zero: senders need no credit.
     */
    virtual uint32_t CreditPackets() const
    {
        return 0;
    }

    /**
     * Creates the state of a port that receives at @p rate bytes/s; null if senders need no credit.
     */
    virtual std::unique_ptr<ReceiverControl> OpenReceiver(double rate) const
    {
        return nullptr;
    }

    /**
     * Whether a packet is sent only if the window has room for all of it (or nothing is in flight),
     * as in TCP. Otherwise the last packet may exceed the window, as in HPCC's simulator.
     */
    virtual bool SendsWithinWindow() const
    {
        return false;
    }

    /** Payload bytes that a sender may send without credit while it has nothing in flight. */
    virtual double StartCredit(const ConnectionFacts& facts) const
    {
        return std::numeric_limits<double>::infinity();
    }
};

using CongestionControlRegistry = Registry<CongestionControl>;

/** The registry of all congestion controls. */
CongestionControlRegistry CongestionControls();

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_CONTROL_H
