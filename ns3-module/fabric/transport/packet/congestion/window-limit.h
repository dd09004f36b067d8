// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_WINDOW_LIMIT_H
#define WEIR_FABRIC_TRANSPORT_PACKET_WINDOW_LIMIT_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <cmath>

namespace weir
{

/** The most bytes that a rate-based sender may have under way beside its pace. */
class WindowLimit
{
  public:
    /**
     * @param window of a sender at line rate; zero: none, or where @p ofPath that of the path
     * @param scaled it shrinks with the rate
     */
    WindowLimit(const ConnectionFacts& facts, Bytes window, bool ofPath, bool scaled)
        : m_full(window > Bytes(0) ? window.ToDouble()
                 : ofPath          ? facts.BandwidthDelay()
                                   : 0),
          m_isScaled(scaled)
    {
    }

    /** Whole bytes, at @p part of the line's rate. */
    double At(double part) const
    {
        return m_full > 0 ? std::floor(m_full * (m_isScaled ? part : 1)) : SenderControl::NO_WINDOW;
    }

    /** At line rate; zero: there is none. */
    double Full() const
    {
        return m_full;
    }

  private:
    double m_full;
    bool m_isScaled;
};

/** The parameters of a WindowLimit. */
inline void
VisitWindow(ParameterVisitor& visitor, Bytes& window, bool& ofPath, bool& scaled)
{
    visitor.Size({"window", "Most bytes under way at line rate; 0: as windowOfPath says."},
                 window,
                 {Bytes(0), Bytes::GiB(1024)});
    visitor.Flag(
        {"windowOfPath", "That is the path's rate times its round trip.", "HPCC's simulator"},
        ofPath);
    visitor.Flag({"scaleWindow", "It shrinks in proportion to the rate.", "HPCC's simulator"},
                 scaled);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_WINDOW_LIMIT_H
