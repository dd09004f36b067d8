// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H
#define WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace weir
{

/**
 * DCQCN (Zhu et al., SIGCOMM 2015): switches mark packets and receivers notify senders. Senders cut
 * their rate in proportion to the frequency of notifications and then recover towards their earlier
 * rate.
 *
 * Two variants: as in the paper, every notification cuts; as in network adapters, the sender checks
 * every `cutCheck` whether a notification has arrived. Presets name published settings.
 */
class Dcqcn : public CongestionControl
{
  public:
    Dcqcn()
        : CongestionControl(
              "dcqcn",
              "Marks cut rates, timers and byte counters increase them (Zhu et al., SIGCOMM 2015).")
    {
        ApplyPreset();
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;
    Time NotificationInterval() const override;
    Time Period() const override;

    std::size_t preset{1}; //!< index into PRESETS
    // Of the preset:
    Time notificationInterval; //!< infinite: ACKs echo marks
    Time alphaTimer;
    Time cutCheck; //!< zero: each notification cuts
    Time increaseTimer;
    Bytes byteCounter; //!< zero: none
    uint32_t fastRecovery{0};
    Rate additiveIncrease;
    Rate hyperIncrease;
    Rate increaseRate; //!< line rate for which the increases are given; zero: any
    double alphaGain{0};
    Rate minimumRate;

    bool clampTarget{false};
    Bytes window{Bytes(0)};   //!< window at line rate; zero: none
    bool windowOfPath{false}; //!< whether the window is the bandwidth-delay product of the path

  private:
    class Sender;
    class PaperSender;
    class AdapterSender;

    /** A published setting. Times in microseconds, rates in Mb/s, bytes. */
    struct Preset
    {
        const char* name;
        double notificationInterval; //!< infinite: ACKs echo marks
        double alphaTimer;
        double cutCheck;
        double increaseTimer;
        int64_t byteCounter;
        uint32_t fastRecovery;
        double additiveIncrease;
        double hyperIncrease;
        double increaseRateGbps;
        double alphaGain;
        double minimumRate;
    };

    static constexpr double ECHO = std::numeric_limits<double>::infinity();

    /**
     * Sources: Zhu et al., SIGCOMM 2015, and Zhu et al., "ECN or Delay", CoNEXT 2016 (paper);
     * NVIDIA, "DCQCN CC parameters", and a dump of mlxconfig (connectx); the simulators of HPCC
     * (alibaba-edu/High-Precision-Congestion-Control: hpcc, hpcc-paper; its config.txt is also
     * SimAI's), ConWeave (conweave-project/conweave-ns3) and of DCQCN's authors
     * (bobzhuyb/ns3-rdma).
     */
    static constexpr std::array<Preset, 7> PRESETS{{
        {"paper", 50, 55, 0, 55, 10000000, 5, 40, 400, 0, 1.0 / 256, 1},
        {"connectx", 4, 1, 4, 300, 0, 1, 5, 50, 0, 1.0 / 205, 1},
        {"hpcc", ECHO, 1, 4, 300, 0, 1, 5, 50, 25, 1.0 / 256, 1000},
        {"hpcc-paper", ECHO, 50, 50, 55, 0, 1, 5, 50, 25, 1.0 / 256, 1000},
        {"simai", ECHO, 1, 4, 900, 0, 1, 50, 100, 0, 1.0 / 256, 100},
        {"conweave", ECHO, 1, 4, 300, 0, 1, 10, 25, 25, 1.0 / 256, 100},
        {"dcqcn-authors", 50, 55, 0, 60, 300000000, 5, 40, 200, 0, 1.0 / 256, 100},
    }};

    void ApplyPreset();
};

/** State and increases common to both variants. */
class Dcqcn::Sender : public SenderControl
{
  public:
    Sender(const Dcqcn& values, const ConnectionFacts& facts)
        : m_values(values),
          m_lineRate(facts.lineRate),
          m_target(facts.lineRate)
    {
        const double scale = values.increaseRate > Rate()
                                 ? facts.lineRate / values.increaseRate.ToBytesPerSecond()
                                 : 1;
        m_additive = values.additiveIncrease.ToBytesPerSecond() * scale;
        m_hyper = values.hyperIncrease.ToBytesPerSecond() * scale;
        m_minimum = std::min(values.minimumRate.ToBytesPerSecond(), facts.lineRate);
        m_fullWindow = values.windowOfPath ? facts.BandwidthDelay() : values.window.ToDouble();
        SetRate(facts.lineRate);
    }

    void OnAck(const Acknowledgment& ack) override
    {
        if (ack.isMarked && m_values.notificationInterval.IsInfinite())
        {
            OnNotification(ack.now);
        }
    }

    Time NextTimer() const override
    {
        return m_nextIncrease;
    }

  protected:
    static constexpr double CLOSE = 1e-12; //!< fraction of the line rate

    void SetRate(double rate)
    {
        m_rate = std::clamp(rate, m_minimum, m_lineRate);
        if (m_fullWindow > 0)
        {
            m_window = m_fullWindow * m_rate / m_lineRate;
        }
    }

    /** Increases the rate halfway to the target, after raising the target by @p increase. */
    void Increase(double increase)
    {
        m_target = std::min(m_target + increase, m_lineRate);
        const double next = (m_rate + m_target) / 2;
        // Halving never reaches the target, and rounding may stop before it.
        SetRate(m_target - next < CLOSE * m_lineRate ? m_target : next);
    }

    bool IsAtLineRate() const
    {
        return m_rate >= m_lineRate && m_target >= m_lineRate;
    }

    const Dcqcn& m_values;
    double m_lineRate;
    double m_target;
    double m_additive;
    double m_hyper;
    double m_minimum;
    double m_fullWindow;
    double m_alpha{1};
    Time m_nextIncrease{Time::Infinite()};
};

/** Variant of the paper: each notification cuts the rate. */
class Dcqcn::PaperSender : public Dcqcn::Sender
{
  public:
    using Sender::Sender;

    void OnNotification(Time now) override
    {
        // Each period without a notification lowers alpha.
        if (m_wasNotified && m_values.alphaTimer > Time())
        {
            const double periods = std::floor((now - m_notifiedAt) / m_values.alphaTimer);
            m_alpha *= std::pow(1 - m_values.alphaGain, periods);
        }
        m_target = m_rate;
        SetRate(m_rate * (1 - m_alpha / 2));
        m_alpha = (1 - m_values.alphaGain) * m_alpha + m_values.alphaGain;
        m_wasNotified = true;
        m_notifiedAt = now;
        m_byTime = 0;
        m_byBytes = 0;
        m_bytes = 0;
        m_nextIncrease = now + m_values.increaseTimer;
    }

    void OnSent(uint32_t bytes, Time now) override
    {
        const int64_t counter = m_values.byteCounter.Count();
        if (counter == 0 || IsAtLineRate())
        {
            return;
        }
        m_bytes += bytes;
        if (m_bytes >= counter)
        {
            m_bytes -= counter;
            m_byBytes++;
            Grow();
        }
    }

    void OnTimer(Time now) override
    {
        m_byTime++;
        Grow();
        m_nextIncrease = IsAtLineRate() ? Time::Infinite() : now + m_values.increaseTimer;
    }

  private:
    void Grow()
    {
        const uint32_t threshold = m_values.fastRecovery;
        if (std::max(m_byTime, m_byBytes) < threshold)
        {
            Increase(0);
        }
        else if (std::min(m_byTime, m_byBytes) > threshold)
        {
            Increase(m_hyper * (std::min(m_byTime, m_byBytes) - threshold));
        }
        else
        {
            Increase(m_additive);
        }
    }

    bool m_wasNotified{false};
    Time m_notifiedAt;
    uint32_t m_byTime{0};  //!< timer increases since the last cut
    uint32_t m_byBytes{0}; //!< byte-counter increases since the last cut
    int64_t m_bytes{0};    //!< bytes sent since the last byte-counter increase
};

/** Variant of network adapters: cuts and alpha updates are periodic. */
class Dcqcn::AdapterSender : public Dcqcn::Sender
{
  public:
    using Sender::Sender;

    void OnNotification(Time now) override
    {
        if (!m_wasNotified)
        {
            m_wasNotified = true;
            m_alphaDone = now;
            m_checkFrom = now;
        }
        else
        {
            UpdateAlpha(now);
            m_wasSeen = true;
        }
        if (m_nextCheck.IsInfinite())
        {
            const double periods = std::floor((now - m_checkFrom) / m_values.cutCheck) + 1;
            m_nextCheck = m_checkFrom + m_values.cutCheck * periods;
        }
    }

    Time NextTimer() const override
    {
        return std::min(m_nextCheck, m_nextIncrease);
    }

    void OnTimer(Time now) override
    {
        if (m_nextCheck <= now)
        {
            Cut(now);
            return;
        }
        if (m_stage < m_values.fastRecovery)
        {
            Increase(0);
        }
        else
        {
            Increase(m_stage == m_values.fastRecovery ? m_additive : m_hyper);
        }
        m_stage++;
        m_nextIncrease = IsAtLineRate() ? Time::Infinite() : now + m_values.increaseTimer;
    }

  private:
    void Cut(Time now)
    {
        UpdateAlpha(now);
        m_nextCheck = Time::Infinite();
        if (m_values.clampTarget || m_stage != 0)
        {
            m_target = m_rate;
        }
        SetRate(m_rate * (1 - m_alpha / 2));
        m_stage = 0;
        m_nextIncrease = now + m_values.increaseTimer;
    }

    /**
     * Updates alpha for all periods that have ended by @p now; a notification can only have arrived
     * in the first of them.
     */
    void UpdateAlpha(Time now)
    {
        const double periods = std::floor((now - m_alphaDone) / m_values.alphaTimer);
        if (periods < 1)
        {
            return;
        }
        const double keep = 1 - m_values.alphaGain;
        m_alpha = m_alpha * std::pow(keep, periods) +
                  (m_wasSeen ? m_values.alphaGain * std::pow(keep, periods - 1) : 0);
        m_wasSeen = false;
        m_alphaDone = m_alphaDone + m_values.alphaTimer * periods;
    }

    bool m_wasNotified{false}; //!< ever
    bool m_wasSeen{false};     //!< notified in the current period of alpha
    Time m_alphaDone;          //!< start of the current period of alpha
    Time m_checkFrom;
    Time m_nextCheck{Time::Infinite()};
    uint32_t m_stage{1}; //!< increases since the last cut; starts at 1, so that the first cut also
                         //!< lowers the target
};

inline Time
Dcqcn::NotificationInterval() const
{
    return notificationInterval;
}

inline Time
Dcqcn::Period() const
{
    return std::max(alphaTimer, increaseTimer);
}

inline void
Dcqcn::ApplyPreset()
{
    const Preset& values = PRESETS[preset];
    notificationInterval = values.notificationInterval == ECHO
                               ? Time::Infinite()
                               : Time::Microseconds(values.notificationInterval);
    alphaTimer = Time::Microseconds(values.alphaTimer);
    cutCheck = Time::Microseconds(values.cutCheck);
    increaseTimer = Time::Microseconds(values.increaseTimer);
    byteCounter = Bytes(values.byteCounter);
    fastRecovery = values.fastRecovery;
    additiveIncrease = Rate::Gbps(values.additiveIncrease / 1000);
    hyperIncrease = Rate::Gbps(values.hyperIncrease / 1000);
    increaseRate = Rate::Gbps(values.increaseRateGbps);
    alphaGain = values.alphaGain;
    minimumRate = Rate::Gbps(values.minimumRate / 1000);
}

inline void
Dcqcn::VisitParameters(ParameterVisitor& visitor)
{
    std::vector<std::string> names;
    for (const Preset& each : PRESETS)
    {
        names.emplace_back(each.name);
    }
    const std::size_t before = preset;
    visitor.Choice({"preset",
                    "Published parameter set, which gives the defaults of notificationInterval to "
                    "minimumRate."},
                   preset,
                   names);
    if (preset != before)
    {
        ApplyPreset();
    }
    const Time longest = Time::Seconds(1000);
    const Rate fastest = Rate::Gbps(1e6);
    visitor.Duration({"notificationInterval",
                      "Minimum time between two congestion notifications of a receiver; inf: none, "
                      "acknowledgments echo marks.",
                      "the preset"},
                     notificationInterval,
                     {Time(), Time::Infinite()});
    visitor.Duration(
        {"alphaTimer", "Time without a notification after which alpha decreases.", "the preset"},
        alphaTimer,
        {Time::Nanoseconds(1), longest});
    visitor.Duration({"cutCheck",
                      "Period at which a sender checks for notifications and cuts its rate; 0: it "
                      "cuts at each notification.",
                      "the preset"},
                     cutCheck,
                     {Time(), longest});
    visitor.Duration({"increaseTimer", "Time between two rate increases.", "the preset"},
                     increaseTimer,
                     {Time::Nanoseconds(1), longest});
    visitor.Size({"byteCounter",
                  "Bytes sent between two rate increases; 0: only the timer increases the rate.",
                  "the preset"},
                 byteCounter,
                 {Bytes(0), Bytes::GiB(1024)});
    visitor.Count({"fastRecovery",
                   "Number of increases in fast recovery, each halfway to the target rate.",
                   "the preset"},
                  fastRecovery,
                  {0, 1u << 20});
    visitor.DataRate({"additiveIncrease",
                      "Additive increase of the target rate, after fast recovery.",
                      "the preset"},
                     additiveIncrease,
                     {Rate(), fastest});
    visitor.DataRate({"hyperIncrease",
                      "Hyper increase of the target rate, after the additive increase.",
                      "the preset"},
                     hyperIncrease,
                     {Rate(), fastest});
    visitor.DataRate({"increaseRate",
                      "Line rate for which the increases hold; they scale with the actual line "
                      "rate. 0: no scaling.",
                      "the preset"},
                     increaseRate,
                     {Rate(), fastest});
    visitor.Number({"alphaGain", "Weight of the newest period in alpha (g).", "the preset"},
                   alphaGain,
                   {1e-9, 1});
    visitor.DataRate({"minimumRate", "Lowest sending rate after rate cuts.", "the preset"},
                     minimumRate,
                     {Rate(), fastest});
    visitor.Flag(
        {"clampTarget",
         "Whether a cut without an increase since the previous cut also lowers the target rate.",
         "ConnectX: clamp_tgt_rate, off"},
        clampTarget);
    visitor.Size(
        {"window",
         "Maximum bytes in flight at line rate, in proportion to the current rate; 0: no limit."},
        window,
        {Bytes(0), Bytes::GiB(1024)});
    visitor.Flag({"windowOfPath",
                  "Whether the window at line rate is the bandwidth-delay product of the path "
                  "instead of window."},
                 windowOfPath);
}

inline std::unique_ptr<SenderControl>
Dcqcn::Open(const ConnectionFacts& facts) const
{
    if (cutCheck > Time())
    {
        return std::make_unique<AdapterSender>(*this, facts);
    }
    return std::make_unique<PaperSender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H
