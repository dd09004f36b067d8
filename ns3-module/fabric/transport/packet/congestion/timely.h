// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_TIMELY_H
#define WEIR_FABRIC_TRANSPORT_PACKET_TIMELY_H

#include "fabric/refuse.h"
#include "fabric/transport/packet/congestion/congestion-control.h"
#include "fabric/transport/packet/congestion/rate-sender.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * TIMELY (Mittal et al., SIGCOMM 2015): rates follow the gradient of the round-trip time. The
 * patched variant of "ECN or Delay" (Zhu et al., CoNEXT 2016, algorithm 2) has a fair fixed point.
 */
class Timely : public CongestionControl
{
  public:
    Timely()
        : CongestionControl(
              "timely",
              "Rates follow the gradient of round-trip times (Mittal et al., SIGCOMM 2015).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    void Check() const override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    uint32_t HeaderBytes() const override
    {
        return timestampHeader;
    }

    bool patched{false};
    double gain{0.875};
    double decrease{0.8};
    Time low{Time::Microseconds(50)};
    Time high{Time::Microseconds(500)};
    Time minRtt{Time::Microseconds(20)};
    Rate increase{Rate::Gbps(0.01)};
    Rate hyperIncrease{Rate::Gbps(0.05)};
    Rate increaseRate{Rate::Gbps(10)};
    uint32_t hyperAfter{5};
    Rate minimumRate{Rate::Gbps(0.01)};
    double startRate{1};
    Bytes window{Bytes(0)};
    bool windowOfPath{false};
    bool scaleWindow{true};
    uint32_t timestampHeader{8}; //!< bytes

  private:
    class Sender;
};

class Timely::Sender : public RateSender
{
  public:
    Sender(const Timely& values, const ConnectionFacts& facts)
        : RateSender(values, facts),
          m_values(values),
          m_minRtt(std::max(values.minRtt, Time::Picoseconds(1))),
          m_reference(facts.StartRate() * values.startRate)
    {
        const double scale = values.increaseRate > Rate()
                                 ? facts.lineRate / values.increaseRate.ToBytesPerSecond()
                                 : 1;
        m_increase = values.increase.ToBytesPerSecond() * scale;
        m_hyperIncrease = values.hyperIncrease.ToBytesPerSecond() * scale;
        SetRate(facts.lineRate * values.startRate);
    }

    /** Updates once a round trip: when a packet sent after the last update is acknowledged. */
    void OnAck(const Acknowledgment& ack) override
    {
        if (ack.next <= m_roundEnd && m_hasSample)
        {
            return;
        }
        if (m_hasSample)
        {
            Update(ack.rtt);
            m_reference = m_rate;
        }
        m_last = ack.rtt;
        m_hasSample = true;
        m_roundEnd = ack.sent;
    }

  private:
    void Update(Time rtt)
    {
        const double change = static_cast<double>((rtt - m_last).ToPicoseconds());
        m_change = (1 - m_values.gain) * m_change + m_values.gain * change;
        const double gradient = m_change / static_cast<double>(m_minRtt.ToPicoseconds());
        if (rtt < m_values.low)
        {
            Grow();
        }
        else if (rtt > m_values.high)
        {
            Shrink(1 - m_values.decrease * (1 - m_values.high / rtt));
        }
        else if (m_values.patched)
        {
            const double weight = std::clamp(2 * gradient + 0.5, 0.0, 1.0);
            const double error = rtt / m_values.low - 1;
            SetRate(m_increase * (1 - weight) +
                    m_reference * (1 - m_values.decrease * weight * error));
        }
        else if (gradient <= 0)
        {
            Grow();
        }
        else
        {
            Shrink(std::max(0.0, 1 - m_values.decrease * gradient));
        }
    }

    void Grow()
    {
        const bool isHyper = m_values.hyperAfter > 0 && m_grown >= m_values.hyperAfter;
        SetRate(m_reference + (isHyper ? m_hyperIncrease : m_increase));
        m_grown++;
    }

    /**
     * Cuts the rate. As in HPCC's simulator, a limit of the queue pair below its port's rate is
     * ignored.
     */
    void Shrink(double factor)
    {
        SetRate(m_reference * factor, std::max(m_reference, m_lineRate));
        m_grown = 0;
    }

    const Timely& m_values;
    Time m_minRtt;
    double m_reference; //!< rate that the next update changes, bytes/s
    double m_increase;
    double m_hyperIncrease;
    Time m_last;
    double m_change{0}; //!< smoothed change of the round trip per sample, ps
    uint64_t m_roundEnd{0};
    uint32_t m_grown{0};
    bool m_hasSample{false};
};

inline void
Timely::VisitParameters(ParameterVisitor& visitor)
{
    const Time longest = Time::Seconds(1000);
    const Rate fastest = Rate::Gbps(1e6);
    visitor.Flag(
        {"patched",
         "Whether to use Patched TIMELY, which has a fair fixed point (Zhu et al., CoNEXT 2016)."},
        patched);
    visitor.Number({"gain",
                    "Weight of the newest change of the round-trip time in the smoothed change.",
                    "Zhu et al., CoNEXT 2016: 0.875"},
                   gain,
                   {1e-9, 1});
    visitor.Number({"decrease",
                    "Relative cut of the rate per unit of gradient (beta).",
                    "Mittal et al., SIGCOMM 2015: 0.8; patched 0.008"},
                   decrease,
                   {0, 1});
    visitor.Duration({"low",
                      "Round-trip time below which the rate increases (T_low); at most high.",
                      "Mittal et al., SIGCOMM 2015"},
                     low,
                     {Time(), longest});
    visitor.Duration({"high",
                      "Round-trip time above which the rate decreases (T_high).",
                      "Mittal et al., SIGCOMM 2015"},
                     high,
                     {Time(), longest});
    visitor.Duration({"minRtt",
                      "Minimum round-trip time, which normalizes the gradient.",
                      "Mittal et al., SIGCOMM 2015"},
                     minRtt,
                     {Time::Picoseconds(1), longest});
    visitor.DataRate({"increase",
                      "Additive increase of the rate (delta).",
                      "Mittal et al., SIGCOMM 2015: 10 Mb/s, on links of 10 Gb/s"},
                     increase,
                     {Rate(), fastest});
    visitor.DataRate({"hyperIncrease",
                      "Additive increase of the rate after hyperAfter consecutive increases.",
                      "Mittal et al., SIGCOMM 2015: 5 delta"},
                     hyperIncrease,
                     {Rate(), fastest});
    visitor.DataRate({"increaseRate",
                      "Line rate for which the increases hold; they scale with the actual line "
                      "rate. 0: no scaling.",
                      "HPCC's simulator (run.py): 10 Mb/s for each 10 Gb/s of the hosts' links"},
                     increaseRate,
                     {Rate(), fastest});
    visitor.Count({"hyperAfter",
                   "Number of consecutive increases after which hyperIncrease applies; 0: never.",
                   "Mittal et al., SIGCOMM 2015: 5"},
                  hyperAfter,
                  {0, 1u << 20});
    visitor.DataRate({"minimumRate", "Lowest sending rate after rate cuts.", "HPCC's simulator"},
                     minimumRate,
                     {Rate(), fastest});
    visitor.Number({"startRate", "Initial rate of a connection, as a fraction of the line rate."},
                   startRate,
                   {1e-6, 1});
    VisitWindow(visitor, window, windowOfPath, scaleWindow);
    visitor.Count(
        {"timestampHeader", "Bytes of the timestamp header of a packet.", "HPCC's simulator"},
        timestampHeader,
        {0, 1024});
}

inline void
Timely::Check() const
{
    WEIR_REFUSE_IF(low > high,
                   "congestionControl.low: found " << low.ToMicroseconds()
                                                   << " us, expected at most high, "
                                                   << high.ToMicroseconds() << " us");
}

inline std::unique_ptr<SenderControl>
Timely::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_TIMELY_H
