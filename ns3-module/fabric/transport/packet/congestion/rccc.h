// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * RCCC, the receiver-based congestion control of Ultra Ethernet (UEC specification 1.0; constants
 * as in htsim's uec.cpp): receivers grant their senders credit round robin, at the rate of their
 * port. A sender starts with a window of its own.
 *
 * If the network has less capacity than the port, packets arrive trimmed. The first time, the port
 * reduces its credit to the rate at which whole packets arrive; a port that is itself the
 * bottleneck receives at its own rate and so keeps it. Afterwards each round trip multiplies the
 * rate by 1 - a/2, where a is the smoothed fraction of packets that arrive trimmed (the law of
 * DCTCP for marks, Alizadeh et al., SIGCOMM 2010, equations 1 and 2). Round trip n without trimmed
 * packets in succession adds max(1, n - 5) times the increase. Packets that arrive within a round
 * trip of a cut were granted before it and do not count. Marks do not slow a port, since trimming
 * bounds the queues.
 */
class Rccc : public CongestionControl
{
  public:
    Rccc()
        : CongestionControl(
              "rccc",
              "Receivers grant credit at the rate of their port (Ultra Ethernet, receiver-based).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;

    /** A sender sends at line rate while it has credit. */
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override
    {
        return std::make_unique<SenderControl>(facts.lineRate);
    }

    uint32_t CreditPackets() const override
    {
        return credit;
    }

    double StartCredit(const ConnectionFacts& facts) const override
    {
        return startWindow * facts.BandwidthDelay();
    }

    std::unique_ptr<ReceiverControl> OpenReceiver(double rate) const override;

    uint32_t credit{4};
    double startWindow{1.5};
    double gain{1.0 / 16};
    double increase{1.0 / 64};
    double minimum{1.0 / 64};

  private:
    class Receiver;
};

/** Grants credit at the rate of the port, or of the network if that is lower. */
class Rccc::Receiver : public ReceiverControl
{
  public:
    Receiver(const Rccc& values, double rate)
        : m_values(values),
          m_portRate(rate),
          m_rate(rate)
    {
    }

    double Rate() const override
    {
        return m_rate;
    }

    void OnArrival(const Arrival& arrival) override
    {
        if (arrival.now >= m_roundEnd)
        {
            EndRound(arrival);
        }
        if (arrival.now < m_roundStart)
        {
            return;
        }
        m_bytes += arrival.bytes; // trimmed headers also use the port
        m_packets++;
        m_trimmed += arrival.isTrimmed ? 1 : 0;
    }

  private:
    /** Consecutive round trips without trimmed packets after which the rate grows faster. */
    static constexpr double QUIET_ROUNDS = 5;

    void EndRound(const Arrival& arrival)
    {
        const double seconds = (arrival.now - m_roundStart).ToSeconds();
        m_roundStart = arrival.now;
        m_roundEnd = arrival.now + arrival.baseRtt;
        if (m_packets > 0)
        {
            m_part += m_values.gain * (m_trimmed / m_packets - m_part);
        }
        if (m_trimmed > 0)
        {
            // Before the first cut, the credit is for the port's rate, whatever the network can
            // carry.
            m_rate *= m_hasCut ? 1 - m_part / 2
                               : std::max(1 - m_trimmed / m_packets,
                                          std::min(1.0, m_bytes / seconds / m_rate));
            m_hasCut = true;
            m_quietRounds = 0;
            // Packets that arrive within a round trip were granted before the cut.
            m_roundStart = m_roundEnd;
            m_roundEnd = m_roundEnd + arrival.baseRtt;
        }
        else if (m_packets > 0)
        {
            m_quietRounds += seconds / arrival.baseRtt.ToSeconds();
            m_rate += std::max(1.0, m_quietRounds - QUIET_ROUNDS) * m_values.increase * m_portRate;
        }
        m_rate = std::clamp(m_rate, m_values.minimum * m_portRate, m_portRate);
        m_bytes = 0;
        m_packets = 0;
        m_trimmed = 0;
    }

    const Rccc& m_values;
    double m_portRate;
    double m_rate;
    double m_part{0};        //!< smoothed fraction of packets that arrived trimmed
    double m_bytes{0};       //!< bytes of the round
    double m_packets{0};     //!< packets of the round
    double m_trimmed{0};     //!< trimmed packets of the round
    double m_quietRounds{0}; //!< round trips since the last trimmed packet
    bool m_hasCut{false};
    Time m_roundStart;
    Time m_roundEnd;
};

inline void
Rccc::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count(
        {"credit", "Credit that a receiver grants at a time, in full packets.", "htsim: 4"},
        credit,
        {1, 1 << 16});
    visitor.Number({"startWindow",
                    "Data that a sender sends without credit, as a multiple of the path's "
                    "bandwidth-delay product.",
                    "htsim: 1.5"},
                   startWindow,
                   {1e-3, 1e3});
    visitor.Number({"gain",
                    "Weight of the newest round trip in the smoothed fraction of trimmed packets.",
                    "Alizadeh et al., SIGCOMM 2010: 1/16"},
                   gain,
                   {1e-9, 1});
    visitor.Number({"increase",
                    "Increase of the credit rate per round trip, as a fraction of the port's rate.",
                    "Weir: 64 round trips to the port's rate, or 15 where nothing is trimmed"},
                   increase,
                   {0, 1});
    visitor.Number({"minimum", "Minimum credit rate, as a fraction of the port's rate.", "Weir"},
                   minimum,
                   {1e-6, 1});
}

inline std::unique_ptr<ReceiverControl>
Rccc::OpenReceiver(double rate) const
{
    return std::make_unique<Receiver>(*this, rate);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H
