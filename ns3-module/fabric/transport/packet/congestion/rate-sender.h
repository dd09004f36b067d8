// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_RATE_SENDER_H
#define WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_RATE_SENDER_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <cmath>

namespace weir
{

/** A sender with a rate, and optionally a window in addition to its pacing. */
class RateSender : public SenderControl
{
  protected:
    /**
     * @param values parameters with a minimumRate and those of VisitWindow. Without `window`, the
     *        window at line rate is the bandwidth-delay product if `windowOfPath`, else there is
     *        none.
     */
    template <typename Values>
    RateSender(const Values& values, const ConnectionFacts& facts)
        : m_lineRate(facts.lineRate),
          m_minimumRate(std::min(values.minimumRate.ToBytesPerSecond(), facts.lineRate)),
          m_fullWindow(values.window > Bytes(0) ? values.window.ToDouble()
                       : values.windowOfPath    ? facts.BandwidthDelay()
                                                : 0),
          m_scalesWindow(values.scaleWindow)
    {
    }

    /**
     * Sets the rate, from the minimum to the line rate, and its window, in whole bytes. A window
     * has at least one byte, so that one packet may always be in flight (HPCC's simulator does the
     * same).
     */
    void SetRate(double rate)
    {
        SetRate(rate, m_lineRate);
    }

    /** As above, with the limit @p maxRate instead of the line rate. */
    void SetRate(double rate, double maxRate)
    {
        m_rate = std::clamp(rate, m_minimumRate, maxRate);
        m_window =
            m_fullWindow > 0
                ? std::max(1.0,
                           std::floor(m_fullWindow * (m_scalesWindow ? m_rate / m_lineRate : 1)))
                : NO_WINDOW;
    }

    double m_lineRate;    //!< bytes/s
    double m_minimumRate; //!< bytes/s
    double m_fullWindow;  //!< window at line rate, bytes; zero if there is none
    bool m_scalesWindow;  //!< the window shrinks with the rate
};

/** Visits the parameters of the window of a RateSender. */
inline void
VisitWindow(ParameterVisitor& visitor, Bytes& window, bool& ofPath, bool& scaled)
{
    visitor.Size({"window", "Maximum bytes in flight at line rate; 0: given by windowOfPath."},
                 window,
                 {Bytes(0), Bytes::GiB(1024)});
    visitor.Flag(
        {"windowOfPath",
         "Whether a window of 0 means the bandwidth-delay product of the path; false: no window.",
         "HPCC's simulator"},
        ofPath);
    visitor.Flag({"scaleWindow",
                  "Whether the window shrinks in proportion to the rate.",
                  "HPCC's simulator"},
                 scaled);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_CONGESTION_RATE_SENDER_H
