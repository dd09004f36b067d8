// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_WINDOW_LIMIT_H
#define WEIR_FABRIC_TRANSPORT_PACKET_WINDOW_LIMIT_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <cmath>

namespace weir
{

/** Window of a rate-based sender, in addition to its pacing. */
class WindowLimit
{
  public:
    /**
     * @param window bytes at line rate; if zero, the bandwidth-delay product if @p ofPath, else no
     *        window
     * @param ofPath see @p window
     * @param scaled whether the window shrinks with the rate
     */
    WindowLimit(const ConnectionFacts& facts, Bytes window, bool ofPath, bool scaled)
        : m_full(window > Bytes(0) ? window.ToDouble()
                 : ofPath          ? facts.BandwidthDelay()
                                   : 0),
          m_isScaled(scaled)
    {
    }

    /**
     * Window at the fraction @p part of the line rate, in whole bytes; NO_WINDOW if there is none.
     */
    double At(double part) const
    {
        return m_full > 0 ? std::floor(m_full * (m_isScaled ? part : 1)) : SenderControl::NO_WINDOW;
    }

    /** Window at line rate, bytes; zero if there is none. */
    double Full() const
    {
        return m_full;
    }

  private:
    double m_full;
    bool m_isScaled;
};

/** Visits the parameters of a WindowLimit. */
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

#endif // WEIR_FABRIC_TRANSPORT_PACKET_WINDOW_LIMIT_H
