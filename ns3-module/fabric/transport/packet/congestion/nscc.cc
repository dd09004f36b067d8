// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/nscc.h"

#include <algorithm>

namespace weir
{

namespace
{

// The network that the constants are for: 100 Gb/s and 12 us.
constexpr double SCALE_BYTES = 100e9 / 8 * 12e-6;
constexpr double SCALE_SECONDS = 12e-6;
constexpr double FAST_DELAY = 1e-6; //!< s; below it queues are empty
constexpr unsigned APPLY_PACKETS = 8;

class NsccSender : public SenderControl
{
  public:
    NsccSender(const Nscc& values, const ConnectionFacts& facts)
        : m_values(values),
          m_mss(facts.mtu),
          m_baseRtt(facts.baseRtt),
          m_target(values.target * facts.baseRtt.ToSeconds()),
          m_most(values.startWindow * facts.BandwidthDelay())
    {
        const double a = facts.BandwidthDelay() / SCALE_BYTES;
        const double b = m_target / SCALE_SECONDS;
        m_alpha = 4 * m_mss * a * b / m_target;
        m_fair = 5 * m_mss * a;
        m_eta = 0.15 * m_mss * a;
        m_fast = 0.25 * a;
        m_rate = facts.lineRate;
        m_window = m_most;
    }

    void OnAck(const Acknowledgment& ack) override
    {
        if (ack.bytes == 0)
        {
            return; // of a trimmed packet, whose header has not waited: see OnLoss
        }
        const double delay = std::max(0.0, (ack.rtt - m_baseRtt).ToSeconds());
        const double bytes = ack.bytes;
        m_average += m_values.gain * (delay - m_average);
        m_achieved += bytes;
        m_ignored += bytes;
        EndRound(ack.now, delay, ack.inFlight);
        Adjust(ack, delay);
        m_sinceApplied += bytes;
        if (m_sinceApplied >= APPLY_PACKETS * m_mss || ack.now - m_appliedAt >= m_baseRtt)
        {
            m_window += m_increase / m_window;
            m_increase = 0;
            m_sinceApplied = 0;
            m_appliedAt = ack.now;
        }
        if (ack.now - m_etaAt >= m_baseRtt)
        {
            m_window += m_eta;
            m_etaAt = ack.now;
        }
        Clamp();
    }

    /** What was lost had no room: the window is that much smaller. */
    void OnLoss(Time now, int64_t bytes, int64_t inFlight) override
    {
        m_wasLost = true;
        const bool isOld = m_ignored < m_toIgnore;
        m_ignored += static_cast<double>(bytes);
        if (!EndRound(now, 0, inFlight) && !isOld)
        {
            m_window -= static_cast<double>(bytes);
            Clamp();
        }
    }

  private:
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
        else if (delay >= m_target && m_ignored >= m_toIgnore)
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

    /**
     * Quick adapt: what has got through in a round that lost, or waited long, is the window; what
     * is under way then says nothing of it. @return whether that is so
     */
    bool EndRound(Time now, double delay, int64_t inFlight)
    {
        if (now < m_roundEnd)
        {
            return false;
        }
        const bool adapts =
            m_roundEnd > Time() && (m_wasLost || delay > 4 * m_target) && m_achieved < m_most / 8;
        if (adapts)
        {
            m_window = m_achieved;
            m_increase = 0;
            m_toIgnore = static_cast<double>(inFlight);
            m_ignored = 0;
            Clamp();
        }
        m_wasLost = false;
        m_achieved = 0;
        m_roundEnd = now + m_baseRtt;
        return adapts;
    }

    void Clamp()
    {
        m_window = std::clamp(m_window, m_mss, m_most);
    }

    const Nscc& m_values;
    double m_mss;
    Time m_baseRtt;
    double m_target; //!< s
    double m_most;   //!< bytes
    double m_alpha{0};
    double m_fair{0};
    double m_eta{0};
    double m_fast{0};
    double m_average{0}; //!< s
    double m_increase{0};
    double m_achieved{0};
    double m_emptyBytes{0};
    double m_toIgnore{0}; //!< under way when the window was adapted
    double m_ignored{0};  //!< of these
    double m_sinceApplied{0};
    Time m_appliedAt;
    Time m_etaAt;
    Time m_roundEnd;
    Time m_cutAt;
    bool m_wasLost{false};
};

} // namespace

const char*
Nscc::Name() const
{
    return "nscc";
}

const char*
Nscc::Description() const
{
    return "Windows follow marks and queueing delay (Ultra Ethernet, sender-based).";
}

void
Nscc::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"target",
                    "Queueing delay aimed at, of the path's round-trip time.",
                    "htsim: 0.75 with trimming, 1 without"},
                   target,
                   {1e-6, 1e3});
    visitor.Number({"startWindow",
                    "First and largest window, of the path's rate times its round "
                    "trip.",
                    "htsim: 1.5"},
                   startWindow,
                   {1e-3, 1e3});
    visitor.Number(
        {"gain", "Weight of the newest delay in its mean.", "htsim: 0.0125"}, gain, {1e-9, 1});
}

std::unique_ptr<SenderControl>
Nscc::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<NsccSender>(*this, facts);
}

} // namespace weir
