// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_FABRIC_PLAIN_SHARING_H
#define WEIR_TESTS_FABRIC_PLAIN_SHARING_H

#include "fabric/units.h"
#include "progressive-filling.h"

#include <algorithm>
#include <vector>

namespace weir
{

/** A transfer of the reference simulation. */
struct PlainTransfer
{
    FillingFlow flow;
    double left;                   //!< bytes
    Time sharesFrom;               //!< start plus latency
    Time finish{Time::Infinite()}; //!< infinite until it is done
    bool cancelled{false};
    double rate{0}; //!< bytes/s

    bool IsMoving(Time now) const
    {
        return !cancelled && finish.IsInfinite() && sharesFrom <= now;
    }
};

/** The event loop around the oracle: fluid sharing in its simplest form, slow and obvious. */
class PlainSharing
{
  public:
    std::vector<double> capacities;
    std::vector<PlainTransfer> transfers;

    /** Time of the next start or end of a transfer. */
    Time Next()
    {
        Share();
        Time next = Time::Infinite();
        for (const auto& t : transfers)
        {
            if (!t.cancelled && t.finish.IsInfinite())
            {
                const bool none = t.left <= 0 || t.rate > 1e300;
                const Time lasts = none         ? Time()
                                   : t.rate > 0 ? Time::Seconds(t.left / t.rate)
                                                : Time::Infinite();
                next = std::min(next, t.IsMoving(m_now) ? m_now + lasts : t.sharesFrom);
            }
        }
        return next;
    }

    /** Advances to @p now, which must not be later than Next(). */
    void AdvanceTo(Time now)
    {
        Share();
        for (auto& t : transfers)
        {
            if (t.IsMoving(m_now))
            {
                const bool ends = t.left <= 0 || t.rate > 1e300 ||
                                  (t.rate > 0 && m_now + Time::Seconds(t.left / t.rate) <= now);
                t.left -= t.rate > 1e300 ? 0 : t.rate * (now - m_now).ToSeconds();
                t.finish = ends ? now : t.finish;
            }
        }
        m_now = now;
    }

    /** Computes the current rate of every transfer. */
    void Share()
    {
        std::vector<FillingFlow> flows;
        for (auto& t : transfers)
        {
            if (t.IsMoving(m_now) && t.left > 0)
            {
                flows.push_back(t.flow);
            }
        }
        const auto rates = ProgressiveFilling(capacities, flows);
        std::size_t i = 0;
        for (auto& t : transfers)
        {
            t.rate = t.IsMoving(m_now) && t.left > 0 ? rates[i++] : 0;
        }
    }

  private:
    Time m_now;
};

} // namespace weir

#endif // WEIR_TESTS_FABRIC_PLAIN_SHARING_H
