// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_DCTCP_H
#define WEIR_FABRIC_TRANSPORT_PACKET_DCTCP_H

#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/rate-sender.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * Rate-based DCTCP (Alizadeh et al., SIGCOMM 2010), as in HPCC's simulator: once a round trip, the
 * rate is cut in proportion to the fraction of marked packets, or grows by a step.
 */
class Dctcp : public CongestionControl
{
  public:
    Dctcp()
        : CongestionControl(
              "dctcp",
              "Rates are cut by the fraction of marked packets (Alizadeh et al., SIGCOMM 2010).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    double gain{1.0 / 16};
    Rate increase{Rate::Gbps(1)};
    Rate minimumRate{Rate::Gbps(0.1)};
    Bytes window{Bytes(0)};
    bool windowOfPath{true};
    bool scaleWindow{true};

  private:
    class Sender;
};

class Dctcp::Sender : public RateSender
{
  public:
    Sender(const Dctcp& values, const ConnectionFacts& facts)
        : RateSender(values, facts),
          m_values(values)
    {
        SetRate(facts.lineRate);
    }

    /** Whether alpha, which decays in each round without marks, is negligible. */
    bool HasSettled() const override
    {
        constexpr double NO_CUT = 1e-3; // relative cut of the rate by a mark
        return m_alpha < NO_CUT;
    }

    void OnAck(const Acknowledgment& ack) override
    {
        m_marks += ack.isMarked ? 1 : 0;
        const bool isNewRound = ack.next > m_roundEnd || !m_hasRound;
        if (isNewRound)
        {
            if (m_hasRound)
            {
                const double part = std::min(1.0, static_cast<double>(m_marks) / m_packets);
                m_alpha = (1 - m_values.gain) * m_alpha + m_values.gain * part;
                m_marks = 0;
            }
            const uint64_t from = m_hasRound ? std::min(ack.sent, ack.next) : 0;
            m_packets = static_cast<double>(ack.sent - from) + 1;
            m_hasRound = true;
            m_roundEnd = ack.sent;
        }
        if (m_isReduced && ack.next > m_reducedUntil)
        {
            m_isReduced = false;
        }
        if (ack.isMarked && !m_isReduced)
        {
            SetRate(m_rate * (1 - m_alpha / 2));
            m_isReduced = true;
            m_reducedUntil = ack.sent;
        }
        if (isNewRound && !m_isReduced)
        {
            SetRate(m_rate + m_values.increase.ToBytesPerSecond());
        }
    }

  private:
    const Dctcp& m_values;
    double m_alpha{1};
    uint64_t m_marks{0};
    double m_packets{1}; //!< packets of the round
    uint64_t m_roundEnd{0};
    uint64_t m_reducedUntil{0};
    bool m_hasRound{false};
    bool m_isReduced{false};
};

inline void
Dctcp::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number(
        {"gain",
         "Weight of the newest round trip in the smoothed fraction of marked packets (g).",
         "Alizadeh et al., SIGCOMM 2010: 1/16"},
        gain,
        {1e-9, 1});
    visitor.DataRate({"increase", "Increase of the rate per round trip.", "HPCC's simulator"},
                     increase,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.DataRate({"minimumRate", "Lowest sending rate after rate cuts.", "HPCC's simulator"},
                     minimumRate,
                     {Rate(), Rate::Gbps(1e6)});
    VisitWindow(visitor, window, windowOfPath, scaleWindow);
}

inline std::unique_ptr<SenderControl>
Dctcp::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DCTCP_H
