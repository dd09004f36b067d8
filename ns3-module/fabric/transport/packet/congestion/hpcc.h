// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_HPCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_HPCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/rate-sender.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * HPCC (Li et al., SIGCOMM 2019): acknowledgments carry the bytes sent and queued at each hop. Rate
 * and window follow the most utilized hop.
 */
class Hpcc : public CongestionControl
{
  public:
    Hpcc()
        : CongestionControl("hpcc",
                            "Rates follow the telemetry that switches write into packets (Li et "
                            "al., SIGCOMM 2019).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    bool WantsTelemetry() const override
    {
        return true;
    }

    double TargetUtilization() const override
    {
        return utilization;
    }

    uint32_t HeaderBytes() const override
    {
        return telemetryHeader;
    }

    double utilization{0.95};
    uint32_t maxStage{0};
    bool fastReaction{true};
    Rate increase{Rate::Gbps(0.05)};
    Rate minimumRate{Rate::Gbps(0.1)};
    Time baseRtt; //!< zero: that of the path
    Bytes window{Bytes(0)};
    bool windowOfPath{true};
    bool scaleWindow{true};
    uint32_t telemetryHeader{42}; //!< bytes
    uint32_t byteUnit{128};
    uint32_t queueUnit{80};

  private:
    class Sender;
};

class Hpcc::Sender : public RateSender
{
  public:
    Sender(const Hpcc& values, const ConnectionFacts& facts)
        : RateSender(values, facts),
          m_values(values),
          m_baseRtt(values.baseRtt > Time() ? values.baseRtt : facts.baseRtt),
          m_reference(facts.StartRate())
    {
        m_bytes = m_fullWindow > 0 ? m_fullWindow : facts.lineRate * m_baseRtt.ToSeconds();
        SetRate(facts.lineRate);
    }

    /** False: the averaged telemetry may still change at a constant rate and window. */
    bool HasSettled() const override
    {
        return false;
    }

    void OnAck(const Acknowledgment& ack) override
    {
        if (ack.telemetry == nullptr)
        {
            return;
        }
        if (!m_hasLast)
        {
            m_hasLast = true;
            m_roundEnd = ack.sent;
            m_last = *ack.telemetry;
            return;
        }
        const bool isNewRound = ack.next > m_roundEnd;
        if (isNewRound || m_values.fastReaction)
        {
            React(*ack.telemetry, isNewRound);
        }
        if (isNewRound)
        {
            m_roundEnd = ack.sent;
        }
    }

  private:
    void React(const Telemetry& now, bool isNewRound)
    {
        using Hop = Telemetry::Hop;
        const auto utilizationOf = [this](const Hop& hop, const Hop& last, double seconds) {
            const uint64_t units =
                hop.sentBytes / m_values.byteUnit - last.sentBytes / m_values.byteUnit;
            const double sent = static_cast<double>(units * m_values.byteUnit) / seconds;
            const uint32_t min = std::min(hop.queueBytes, last.queueBytes);
            const double queued = min / m_values.queueUnit * m_values.queueUnit;
            return sent / hop.rate + queued * m_lineRate / hop.rate / m_bytes;
        };
        const auto [max, interval] = now.MaxSince(m_last, utilizationOf);
        m_last = now;
        if (interval == 0)
        {
            return;
        }
        const double part = std::min(1.0, interval / m_baseRtt.ToSeconds());
        m_utilization = m_utilization * (1 - part) + max * part;
        const double excess = m_utilization / m_values.utilization;
        const double step = m_values.increase.ToBytesPerSecond();
        const bool isFull = excess >= 1 || m_stage >= m_values.maxStage;
        SetRate(isFull ? m_reference / excess + step : m_reference + step);
        if (isNewRound)
        {
            m_stage = isFull ? 0 : m_stage + 1;
            m_reference = m_rate;
        }
    }

    const Hpcc& m_values;
    Time m_baseRtt;
    double m_bytes;     //!< window at line rate
    double m_reference; //!< rate of the previous round, bytes/s
    double m_utilization{1};
    uint32_t m_stage{0};
    uint64_t m_roundEnd{0};
    bool m_hasLast{false};
    Telemetry m_last;
};

inline void
Hpcc::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"utilization",
                    "Target utilization of the most utilized hop (eta).",
                    "Li et al., SIGCOMM 2019: 0.95"},
                   utilization,
                   {0.01, 1});
    visitor.Count({"maxStage",
                   "Number of consecutive additive increases before a multiplicative adjustment.",
                   "HPCC's simulator"},
                  maxStage,
                  {0, 1u << 20});
    visitor.Flag({"fastReaction",
                  "Whether to react to each acknowledgment instead of once per round trip.",
                  "Li et al., SIGCOMM 2019, algorithm 1"},
                 fastReaction);
    visitor.DataRate({"increase", "Additive increase of the rate.", "HPCC's simulator"},
                     increase,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.DataRate({"minimumRate", "Lowest sending rate after rate cuts.", "HPCC's simulator"},
                     minimumRate,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.Duration({"baseRtt", "Base round-trip time, with empty queues; 0: that of the path."},
                     baseRtt,
                     {Time(), Time::Seconds(1000)});
    VisitWindow(visitor, window, windowOfPath, scaleWindow);
    visitor.Count(
        {"byteUnit", "Unit of the sent-bytes counter in telemetry, in bytes.", "HPCC's simulator"},
        byteUnit,
        {1, 1u << 20});
    visitor.Count(
        {"queueUnit", "Unit of the queue length in telemetry, in bytes.", "HPCC's simulator"},
        queueUnit,
        {1, 1u << 20});
    visitor.Count({"telemetryHeader",
                   "Bytes of telemetry in a packet; the default is 8 for each of five hops, and 2.",
                   "Li et al., SIGCOMM 2019"},
                  telemetryHeader,
                  {0, 1024});
}

inline std::unique_ptr<SenderControl>
Hpcc::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_HPCC_H
