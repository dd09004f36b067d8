// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_RANK_BOOKING_H
#define WEIR_COMPUTE_MODEL_EXECUTION_RANK_BOOKING_H

#include "compute-model/graph/step-program.h"
#include "fabric/units.h"

#include <array>

namespace weir
{

/** Books the time of one rank to categories as it passes; what is booked sums to what has passed.
 */
class RankBooking
{
  public:
    /** Begins a step at @p now with nothing booked. */
    void Begin(Time now)
    {
        m_spent = {};
        m_since = now;
        m_category = TimeCategory::Bubble;
    }

    /** Nothing is booked any more, of what has been settled; the rank goes on as it does. */
    void Next()
    {
        m_spent = {};
    }

    /** From @p now on the rank's time is of @p category. */
    void Switch(TimeCategory category, Time now)
    {
        if (category != m_category)
        {
            Settle(now);
            m_category = category;
        }
    }

    /** Books everything up to @p now. */
    void Settle(Time now)
    {
        m_spent[static_cast<std::size_t>(m_category)] += now - m_since;
        m_since = now;
    }

    /** Takes @p time, which is booked or being booked as @p from, for @p to. */
    void Move(Time time, TimeCategory from, TimeCategory to)
    {
        m_spent[static_cast<std::size_t>(from)] -= time;
        m_spent[static_cast<std::size_t>(to)] += time;
    }

    const std::array<Time, TIME_CATEGORY_COUNT>& Spent() const
    {
        return m_spent;
    }

  private:
    std::array<Time, TIME_CATEGORY_COUNT> m_spent{}; //!< by TimeCategory
    Time m_since;                                    //!< up to when time is booked
    TimeCategory m_category{TimeCategory::Bubble};   //!< of the time since then
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_RANK_BOOKING_H
