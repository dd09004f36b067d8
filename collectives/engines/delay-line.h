// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_DELAY_LINE_H
#define WEIR_COLLECTIVES_ENGINES_DELAY_LINE_H

#include "fabric/units.h"

#include <cstddef>
#include <vector>

namespace weir
{

/**
 * Timers that all have the same delay, and so run out in the order in which they were set: a
 * first-in-first-out queue instead of a heap. O(1), and no allocation once it has grown.
 */
template <typename Item>
class DelayLine
{
  public:
    explicit DelayLine(Time delay)
        : m_delay(delay)
    {
    }

    Time Delay() const
    {
        return m_delay;
    }

    bool IsEmpty() const
    {
        return m_size == 0;
    }

    /** When the oldest timer runs out. Not to be asked when empty. */
    Time Front() const
    {
        return m_ring[m_head].due;
    }

    /** Sets a timer at @p now, which is never before the last one's. */
    void Push(Time now, const Item& item)
    {
        if (m_size == m_ring.size())
        {
            Grow();
        }
        m_ring[(m_head + m_size) & (m_ring.size() - 1)] = {now + m_delay, item};
        ++m_size;
    }

    Item Pop()
    {
        const Item item = m_ring[m_head].item;
        m_head = (m_head + 1) & (m_ring.size() - 1);
        --m_size;
        return item;
    }

  private:
    struct Timer
    {
        Time due;
        Item item;
    };

    void Grow()
    {
        std::vector<Timer> larger(m_ring.empty() ? 16 : 2 * m_ring.size());
        for (std::size_t i = 0; i < m_size; ++i)
        {
            larger[i] = m_ring[(m_head + i) & (m_ring.size() - 1)];
        }
        m_ring = std::move(larger);
        m_head = 0;
    }

    Time m_delay;
    std::vector<Timer> m_ring; //!< a power of two of places
    std::size_t m_head{0};
    std::size_t m_size{0};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_DELAY_LINE_H
