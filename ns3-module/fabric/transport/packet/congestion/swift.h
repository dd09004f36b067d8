// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_SWIFT_H
#define WEIR_FABRIC_TRANSPORT_PACKET_SWIFT_H

#include "fabric/refuse.h"
#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace weir
{

/**
 * Swift (Kumar et al., SIGCOMM 2020): windows follow the delay relative to a target that grows with
 * the number of hops and for small windows. Windows below one packet become a pacing rate.
 */
class Swift : public CongestionControl
{
  public:
    Swift()
        : CongestionControl("swift",
                            "Windows follow delay over a target (Kumar et al., SIGCOMM 2020).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    void Check() const override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    double increase{1};
    double decrease{0.8};
    double maxDecrease{0.5};
    Time target{Time::Microseconds(20)};
    Time perHop{Time::Microseconds(3)};
    Time scaling{Time::Microseconds(30)}; //!< largest addition to the target for small windows
                                          //!< (flow scaling)
    double scalingFrom{0.1};
    double scalingTo{100};

  private:
    class Sender;
};

class Swift::Sender : public SenderControl
{
  public:
    Sender(const Swift& values, const ConnectionFacts& facts)
        : m_values(values),
          m_facts(facts),
          m_maxPackets(facts.lineRate * (facts.baseRtt + values.target * 2).ToSeconds() /
                       facts.mtu),
          m_rtt(facts.baseRtt)
    {
        const double from = 1 / std::sqrt(values.scalingFrom);
        const double to = 1 / std::sqrt(values.scalingTo);
        m_slope = values.scaling.ToSeconds() / (from - to);
        m_offset = -m_slope * to;
        SetPackets(facts.lineRate * facts.baseRtt.ToSeconds() / facts.mtu);
    }

    void OnAck(const Acknowledgment& ack) override
    {
        m_rtt = ack.rtt;
        const double packets = static_cast<double>(ack.bytes) / m_facts.mtu;
        const double delay = ack.rtt.ToSeconds();
        const double target = Target();
        if (delay < target)
        {
            SetPackets(m_packets + (m_packets >= 1 ? m_values.increase * packets / m_packets
                                                   : m_values.increase * packets));
        }
        else
        {
            Cut(std::max(1 - m_values.decrease * (delay - target) / delay,
                         1 - m_values.maxDecrease),
                ack.now);
        }
    }

    void OnLoss(Time now, int64_t bytes) override
    {
        Cut(1 - m_values.maxDecrease, now);
    }

  private:
    /** Target delay, s. */
    double Target() const
    {
        const double scaled = std::clamp(
            m_slope / std::sqrt(m_packets) + m_offset, 0.0, m_values.scaling.ToSeconds());
        return m_values.target.ToSeconds() + m_facts.hops * m_values.perHop.ToSeconds() + scaled;
    }

    /** Cuts the window, at most once a round trip. */
    void Cut(double factor, Time now)
    {
        if (!m_hasCut || now - m_cutAt >= m_rtt)
        {
            m_hasCut = true;
            m_cutAt = now;
            SetPackets(m_packets * factor);
        }
    }

    void SetPackets(double packets)
    {
        m_packets = std::clamp(packets, 0.001, m_maxPackets);
        m_window = std::max(1.0, m_packets) * m_facts.mtu;
        const double wire = m_facts.mtu + m_facts.header;
        m_rate = m_packets >= 1 ? m_facts.lineRate
                                : std::min(m_facts.lineRate, m_packets * wire / m_rtt.ToSeconds());
    }

    const Swift& m_values;
    ConnectionFacts m_facts;
    double m_maxPackets;
    Time m_rtt;
    double m_slope;
    double m_offset;
    double m_packets{1};
    Time m_cutAt;
    bool m_hasCut{false};
};

inline void
Swift::VisitParameters(ParameterVisitor& visitor)
{
    const Time longest = Time::Seconds(1000);
    const char* paper = "Kumar et al., SIGCOMM 2020";
    visitor.Number({"increase", "Increase of the window per round trip, in packets.", paper},
                   increase,
                   {0, 1e6});
    visitor.Number({"decrease",
                    "Relative cut of the window, multiplied by the fraction of the delay that "
                    "exceeds the target (beta).",
                    paper},
                   decrease,
                   {0, 1});
    visitor.Number({"maxDecrease", "Maximum relative cut of the window at a time.", paper},
                   maxDecrease,
                   {0, 1});
    visitor.Duration(
        {"target", "Target delay, without the parts of perHop and scaling.", "csg-htsim: 20 us"},
        target,
        {Time(), longest});
    visitor.Duration(
        {"perHop", "Part of the target delay for each hop.", "csg-htsim: 20 us / 6.55"},
        perHop,
        {Time(), longest});
    visitor.Duration({"scaling", "Maximum part of the target delay for small windows.", paper},
                     scaling,
                     {Time(), longest});
    visitor.Number(
        {"scalingFrom",
         "Window in packets at which all of scaling is added to the target delay; less than "
         "scalingTo.",
         paper},
        scalingFrom,
        {1e-6, 1e6});
    visitor.Number({"scalingTo", "Window in packets from which on scaling adds nothing.", paper},
                   scalingTo,
                   {1e-6, 1e6});
}

inline void
Swift::Check() const
{
    WEIR_REFUSE_IF(!(scalingFrom < scalingTo),
                   "congestionControl.scalingFrom: found "
                       << scalingFrom << " packets, expected less than scalingTo, " << scalingTo);
}

inline std::unique_ptr<SenderControl>
Swift::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_SWIFT_H
