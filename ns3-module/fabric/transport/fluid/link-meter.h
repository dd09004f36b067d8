// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LINK_METER_H
#define WEIR_FABRIC_LINK_METER_H

#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/** Counts what a link has carried; touched only when its rate changes. */
class LinkMeter
{
  public:
    /** A load of at least this part of the capacity saturates a link. */
    static constexpr double SATURATED = 1 - 1e-9;

    static bool Saturates(double rate, double capacity)
    {
        return rate > 0 && rate >= capacity * SATURATED;
    }

    /** The link carries @p rate (bytes/s) of @p capacity from @p now on. */
    void SetRate(double rate, double capacity, Time now)
    {
        m_busy = Busy(now);
        m_saturated = Saturated(now);
        m_since = now;
        m_rate = rate;
        m_full = Saturates(rate, capacity);
    }

    /** Adds time that was measured elsewhere, during which this meter showed no rate. */
    void AddTime(Time busy, bool saturated)
    {
        m_busy += busy;
        m_saturated += saturated ? busy : Time();
    }

    void AddBytes(int64_t bytes)
    {
        m_bytes += bytes;
    }

    double Rate() const
    {
        return m_rate;
    }

    bool IsFull() const
    {
        return m_full;
    }

    int64_t Bytes() const
    {
        return m_bytes;
    }

    Time Busy(Time now) const
    {
        return m_rate > 0 ? m_busy + (now - m_since) : m_busy;
    }

    Time Saturated(Time now) const
    {
        return m_full ? m_saturated + (now - m_since) : m_saturated;
    }

  private:
    double m_rate{0}; //!< bytes/s since m_since
    Time m_since;
    Time m_busy;        //!< until m_since
    Time m_saturated;   //!< until m_since
    int64_t m_bytes{0}; //!< of transfers that have left the link
    bool m_full{false}; //!< m_rate is all that the link can carry
};

} // namespace weir

#endif // WEIR_FABRIC_LINK_METER_H
