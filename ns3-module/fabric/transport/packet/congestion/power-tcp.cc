// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/power-tcp.h"

#include <algorithm>

namespace weir
{

namespace
{

class PowerTcpSender : public SenderControl
{
  public:
    PowerTcpSender(const PowerTcp& values, const ConnectionFacts& facts)
        : m_values(values),
          m_lineRate(facts.lineRate),
          m_baseRtt(facts.baseRtt.ToSeconds()),
          m_full(facts.lineRate * facts.baseRtt.ToSeconds()),
          m_least(facts.mtu)
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
        const auto [most, interval] = now.MaxSince(m_last, powerOf);
        if (interval == 0)
        {
            return;
        }
        const double part = std::min(1.0, interval / m_baseRtt);
        m_power = m_power * (1 - part) + most * part;
        const double increase = m_full / m_values.flows;
        SetWindow(m_values.gamma * (m_old / std::max(m_power, 1e-9) + increase) +
                  (1 - m_values.gamma) * m_window);
    }

    void SetWindow(double window)
    {
        m_window = std::clamp(window, m_least, m_full);
        m_rate = m_lineRate * m_window / m_full;
    }

    const PowerTcp& m_values;
    double m_lineRate;
    double m_baseRtt; //!< s
    double m_full;    //!< bytes: the window at line rate
    double m_least;
    double m_old; //!< window of the previous round
    double m_power{1};
    uint64_t m_roundEnd{0};
    bool m_hasLast{false};
    Telemetry m_last;
};

} // namespace

void
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

std::unique_ptr<SenderControl>
PowerTcp::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<PowerTcpSender>(*this, facts);
}

} // namespace weir
