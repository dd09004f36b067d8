// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_POWER_TCP_H
#define WEIR_FABRIC_TRANSPORT_PACKET_POWER_TCP_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * PowerTCP (Addanki et al., NSDI 2022): the window follows the power of the most loaded hop,
 * relative to the power at full utilization without queueing. Power is current (arrival rate) times
 * voltage (queued bytes plus bandwidth-delay product).
 */
class PowerTcp : public CongestionControl
{
  public:
    PowerTcp()
        : CongestionControl(
              "powertcp",
              "Windows follow the power of the most loaded hop (Addanki et al., NSDI 2022).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    bool WantsTelemetry() const override
    {
        return true;
    }

    uint32_t HeaderBytes() const override
    {
        return telemetryHeader;
    }

    double gamma{0.9};
    uint32_t flows{10};
    uint32_t telemetryHeader{42}; //!< bytes

  private:
    class Sender;
};

class PowerTcp::Sender : public SenderControl
{
  public:
    Sender(const PowerTcp& values, const ConnectionFacts& facts)
        : m_values(values),
          m_lineRate(facts.lineRate),
          m_baseRtt(facts.baseRtt.ToSeconds()),
          m_full(facts.lineRate * facts.baseRtt.ToSeconds()),
          m_minWindow(facts.mtu)
    {
        SetWindow(m_full);
        m_old = m_full;
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
        if (m_hasLast)
        {
            React(*ack.telemetry);
        }
        m_last = *ack.telemetry;
        m_hasLast = true;
        if (ack.next > m_roundEnd)
        {
            m_old = m_window;
            m_roundEnd = ack.sent;
        }
    }

  private:
    void React(const Telemetry& now)
    {
        using Hop = Telemetry::Hop;
        const auto powerOf = [this](const Hop& hop, const Hop& last, double seconds) {
            const double grown = static_cast<double>(hop.queueBytes) - last.queueBytes;
            const double sent = static_cast<double>(hop.sentBytes - last.sentBytes);
            const double current = (grown + sent) / seconds;
            const double voltage = hop.queueBytes + hop.rate * m_baseRtt;
            return current * voltage / (hop.rate * hop.rate * m_baseRtt);
        };
        const auto [max, interval] = now.MaxSince(m_last, powerOf);
        if (interval == 0)
        {
            return;
        }
        const double part = std::min(1.0, interval / m_baseRtt);
        m_power = m_power * (1 - part) + max * part;
        const double increase = m_full / m_values.flows;
        SetWindow(m_values.gamma * (m_old / std::max(m_power, 1e-9) + increase) +
                  (1 - m_values.gamma) * m_window);
    }

    void SetWindow(double window)
    {
        m_window = std::clamp(window, m_minWindow, m_full);
        m_rate = m_lineRate * m_window / m_full;
    }

    const PowerTcp& m_values;
    double m_lineRate;
    double m_baseRtt; //!< s
    double m_full;    //!< bytes: the window at line rate
    double m_minWindow;
    double m_old; //!< window of the previous round
    double m_power{1};
    uint64_t m_roundEnd{0};
    bool m_hasLast{false};
    Telemetry m_last;
};

inline void
PowerTcp::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"gamma",
                    "Weight of the newest window in the smoothed window (gamma).",
                    "Addanki et al., NSDI 2022: 0.9"},
                   gamma,
                   {1e-6, 1});
    visitor.Count({"flows",
                   "Expected number of flows that share a link; the additive increase is the full "
                   "window divided by it.",
                   "Addanki et al., NSDI 2022"},
                  flows,
                  {1, 1u << 20});
    visitor.Count({"telemetryHeader", "Bytes of telemetry in a packet.", "the same as HPCC's"},
                  telemetryHeader,
                  {0, 1024});
}

inline std::unique_ptr<SenderControl>
PowerTcp::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_POWER_TCP_H
