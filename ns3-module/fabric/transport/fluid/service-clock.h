// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SERVICE_CLOCK_H
#define WEIR_FABRIC_SERVICE_CLOCK_H

#include "fabric/units.h"

#include <limits>

namespace weir
{

/**
 * How much has been served to each unit of weight: a counter that runs at a rate.
 *
 * A transfer that starts when the counter shows s is done when it shows s + bytes / weight, however
 * the rate changes in between; so a change of rate is one change here, not one per transfer.
 */
class ServiceClock
{
  public:
    /** What it shows at @p now, in bytes per unit of weight. */
    double At(Time now) const
    {
        return m_rate == 0 || m_rate == INFINITE || now == m_since
                   ? m_served
                   : m_served + m_rate * (now - m_since).ToSeconds();
    }

    /** When it shows @p served; at once when the rate is infinite, never when it is zero. */
    Time TimeOf(double served) const
    {
        if (served <= m_served || m_rate == INFINITE)
        {
            return m_since;
        }
        return m_rate == 0 ? Time::Infinite()
                           : m_since + Time::Seconds((served - m_served) / m_rate);
    }

    /** Runs at @p rate (bytes per second and unit of weight) from @p now on. */
    void SetRate(double rate, Time now)
    {
        m_served = At(now);
        m_since = now;
        m_rate = rate;
    }

    /** Shows @p served at @p now. */
    void Set(double served, Time now)
    {
        m_served = served;
        m_since = now;
    }

    double Rate() const
    {
        return m_rate;
    }

  private:
    static constexpr double INFINITE = std::numeric_limits<double>::infinity();

    double m_served{0}; //!< bytes per unit of weight at m_since
    double m_rate{0};   //!< bytes per second and unit of weight
    Time m_since;
};

} // namespace weir

#endif // WEIR_FABRIC_SERVICE_CLOCK_H
