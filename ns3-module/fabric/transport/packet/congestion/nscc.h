// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * NSCC, the sender-based congestion control of Ultra Ethernet (UEC specification 1.0; constants as
 * in htsim's uec.cpp): marks and queueing delay adjust the window.
 *
 * Each lost byte is subtracted from the window. Quick adapt (SMaRTT-REPS, Bonato et al., 2024) sets
 * the window to the bytes acknowledged in a round; losses and marks of bytes that were in flight at
 * that time are ignored. Cuts use a mean delay. In this mean, an unmarked packet with a delay above
 * the target counts as a quarter of the base round trip, since the queue behind it is short.
 *
 * The target delay and the increases are scaled for the network, not for each path: by the round
 * trip of its longest path, and by a rate. Increases for 100 Gb/s reproduce the trimmed packets of
 * published htsim runs at 200, 400 and 800 Gb/s; increases for the line rate would trim up to seven
 * times as many.
 */
class Nscc : public CongestionControl
{
  public:
    Nscc()
        : CongestionControl(
              "nscc", "Windows follow marks and queueing delay (Ultra Ethernet, sender-based).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    bool SendsWithinWindow() const override
    {
        return true;
    }

    double target{0.75};
    double startWindow{1.5};
    double maxWindow{1.5};
    Time networkRtt; //!< zero: that of the path
    Rate increaseRate{Rate::Gbps(100)};
    double gain{0.0125};

  private:
    class Sender;
};

class Nscc::Sender : public SenderControl
{
  public:
    Sender(const Nscc& values, const ConnectionFacts& facts)
        : m_values(values),
          m_mss(facts.mtu),
          m_header(facts.header),
          m_baseRtt(facts.baseRtt),
          m_networkRtt(values.networkRtt > Time() ? values.networkRtt : facts.baseRtt),
          m_target(values.target * m_networkRtt.ToSeconds()),
          m_maxWindow(std::max(m_mss, values.maxWindow * facts.BandwidthDelay()))
    {
        const double rate = values.increaseRate > Rate() ? values.increaseRate.ToBytesPerSecond()
                                                         : facts.bottleneckRate;
        const double a = rate * m_networkRtt.ToSeconds() / SCALE_BYTES;
        const double b = m_target / SCALE_SECONDS;
        m_alpha = 4 * m_mss * a * b / m_target;
        m_fair = 5 * m_mss * a;
        m_eta = 0.15 * m_mss * a;
        m_fast = 0.25 * a;
        m_rate = facts.lineRate;
        m_window = values.startWindow * facts.BandwidthDelay();
        Clamp();
    }

    void OnSent(uint32_t bytes, Time now) override
    {
        m_inFlight += bytes - m_header;
    }

    void OnAck(const Acknowledgment& ack) override
    {
        if (ack.bytes == 0)
        {
            return; // of a trimmed packet, whose header did not queue: see OnLoss
        }
        m_inFlight = std::max(0.0, m_inFlight - ack.bytes);
        const double delay = std::max(0.0, (ack.rtt - m_baseRtt).ToSeconds());
        const double bytes = ack.bytes;
        // The queue behind a packet that waited long but was not marked is short.
        const bool hasPassed = !ack.isMarked && delay > m_target;
        const double sample = hasPassed ? m_baseRtt.ToSeconds() / 4 : delay;
        m_average += m_values.gain * (sample - m_average);
        m_achieved += bytes;
        EndRound(ack.now, delay);
        if (IsIgnored(bytes) && ack.isMarked)
        {
            return;
        }
        Adjust(ack, delay);
        m_sinceApplied += bytes;
        if (m_sinceApplied >= APPLY_PACKETS * m_mss || ack.now - m_appliedAt >= m_networkRtt)
        {
            m_window += m_increase / m_window;
            m_increase = 0;
            m_sinceApplied = 0;
            m_appliedAt = ack.now;
        }
        if (ack.now - m_etaAt >= m_networkRtt)
        {
            m_window += m_eta;
            m_etaAt = ack.now;
        }
        Clamp();
    }

    /** Subtracts lost bytes from the window, since the network had no room for them. */
    void OnLoss(Time now, int64_t bytes) override
    {
        m_inFlight = std::max(0.0, m_inFlight - static_cast<double>(bytes));
        if (IsIgnored(static_cast<double>(bytes)))
        {
            return;
        }
        m_wasLost = true;
        if (!EndRound(now, 0))
        {
            m_window -= static_cast<double>(bytes);
            Clamp();
        }
    }

  private:
    // Network for which the constants are given: 100 Gb/s and 12 us.
    static constexpr double SCALE_BYTES = 100e9 / 8 * 12e-6;
    static constexpr double SCALE_SECONDS = 12e-6;
    static constexpr double FAST_DELAY = 1e-6; //!< s; below it, queues count as empty
    static constexpr unsigned APPLY_PACKETS = 8;

    void Adjust(const Acknowledgment& ack, double delay)
    {
        const double bytes = ack.bytes;
        if (!ack.isMarked && delay < FAST_DELAY && m_emptyBytes >= m_window)
        {
            m_window += bytes * m_fast;
        }
        else if (!ack.isMarked && delay < m_target)
        {
            m_increase += m_alpha * bytes * (m_target - delay);
        }
        else if (!ack.isMarked)
        {
            m_increase += m_fair * bytes;
        }
        else if (delay >= m_target)
        {
            Cut(ack.now);
        }
        m_emptyBytes = delay < FAST_DELAY && !ack.isMarked ? m_emptyBytes + bytes : 0;
    }

    void Cut(Time now)
    {
        if (now - m_cutAt < m_baseRtt || m_average <= m_target)
        {
            return;
        }
        m_cutAt = now;
        m_window *= std::max(1 - 0.8 * (m_average - m_target) / m_average, 0.5);
    }

    /** Whether the @p bytes now acknowledged or lost were in flight at the last quick adapt. */
    bool IsIgnored(double bytes)
    {
        const bool isIgnored = m_toIgnore > 0;
        m_toIgnore = std::max(0.0, m_toIgnore - bytes);
        return isIgnored;
    }

    /**
     * Ends a round if it is due. Quick adapt: after a round with losses or long delays, the window
     * becomes the bytes acknowledged in the round. Marks and losses of the bytes then in flight
     * belong to the previous window (SMaRTT-REPS, Bonato et al., 2024).
     * @return whether the window was adapted
     */
    bool EndRound(Time now, double delay)
    {
        if (now < m_roundEnd)
        {
            return false;
        }
        const bool adapts = m_roundEnd > Time() && (m_wasLost || delay > 4 * m_target) &&
                            m_achieved < m_maxWindow / 8;
        if (adapts)
        {
            m_window = m_achieved;
            m_increase = 0;
            m_toIgnore = m_inFlight;
            Clamp();
        }
        m_wasLost = false;
        m_achieved = 0;
        m_roundEnd = now + m_baseRtt;
        return adapts;
    }

    void Clamp()
    {
        m_window = std::clamp(m_window, m_mss, m_maxWindow);
    }

    const Nscc& m_values;
    double m_mss;
    double m_header; //!< bytes
    Time m_baseRtt;
    Time m_networkRtt;
    double m_target;    //!< s
    double m_maxWindow; //!< bytes
    double m_alpha{0};
    double m_fair{0};
    double m_eta{0};
    double m_fast{0};
    double m_average{0}; //!< s
    double m_increase{0};
    double m_achieved{0};
    double m_emptyBytes{0};
    double m_inFlight{0};
    double m_toIgnore{0}; //!< bytes in flight at the last quick adapt, still to be ignored
    double m_sinceApplied{0};
    Time m_appliedAt;
    Time m_etaAt;
    Time m_roundEnd;
    Time m_cutAt;
    bool m_wasLost{false};
};

inline void
Nscc::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"target",
                    "Target queueing delay, as a fraction of networkRtt.",
                    "htsim: 0.75 with trimming, 1 without"},
                   target,
                   {1e-6, 1e3});
    visitor.Number(
        {"startWindow",
         "Initial window, as a multiple of the path's bandwidth-delay product; at most maxWindow.",
         "htsim: 1.5"},
        startWindow,
        {1e-3, 1e3});
    visitor.Number({"maxWindow",
                    "Maximum window, as a multiple of the path's bandwidth-delay product.",
                    "htsim: 1.5"},
                   maxWindow,
                   {1e-3, 1e3});
    visitor.Duration({"networkRtt",
                      "Round-trip time of the network's longest path, which scales the target "
                      "delay and the increases; 0: that of the flow's path.",
                      "htsim: of the topology's diameter"},
                     networkRtt,
                     {Time(), Time::Seconds(1)});
    visitor.DataRate({"increaseRate",
                      "Rate that scales the increases of the window; 0: that of the path.",
                      "published runs of htsim at 100 to 800 Gb/s: 100 Gb/s"},
                     increaseRate,
                     {Rate(), Rate::Gbps(1e6)});
    visitor.Number({"gain", "Weight of the newest delay in the smoothed delay.", "htsim: 0.0125"},
                   gain,
                   {1e-9, 1});
}

inline std::unique_ptr<SenderControl>
Nscc::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
