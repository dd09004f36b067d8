// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_LINK_CREDITS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_LINK_CREDITS_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What a sender knows of the room that is left at the other end of its link, for one virtual lane.
 *
 * A packet takes whole units; when it leaves the receiving device, the units come back after a
 * delay that is the same for all. They need no events: whoever lacks credits asks when there will
 * be enough.
 */
class LinkCredits
{
  public:
    static constexpr int64_t UNKNOWN = -1;

    LinkCredits() = default;

    /** @param units that the receiver has room for */
    explicit LinkCredits(int64_t units)
        : m_units(units)
    {
    }

    /** What is there at @p now. */
    int64_t Units(int64_t now)
    {
        while (m_count > 0 && m_returns[m_first].time <= now)
        {
            m_units += m_returns[m_first].units;
            m_first = Place(1);
            m_count--;
        }
        return m_units;
    }

    void Take(int64_t units)
    {
        m_units -= units;
    }

    /** Units come back at @p time, or with those before them where these come later. */
    void Return(int64_t units, int64_t time)
    {
        if (m_count > 0 && m_returns[Place(m_count - 1)].time >= time)
        {
            m_returns[Place(m_count - 1)].units += units;
            return;
        }
        if (m_count == m_returns.size())
        {
            Grow();
        }
        m_returns[Place(m_count++)] = {time, units};
    }

    /** When @p units are there, of those that are on their way back; UNKNOWN: not yet. */
    int64_t TimeOf(int64_t units) const
    {
        int64_t sum = m_units;
        for (std::size_t i = 0; i < m_count; i++)
        {
            const Returned& returned = m_returns[Place(i)];
            sum += returned.units;
            if (sum >= units)
            {
                return returned.time;
            }
        }
        return UNKNOWN;
    }

  private:
    struct Returned
    {
        int64_t time; //!< picoseconds
        int64_t units;
    };

    /** Of the one @p after the first that is not yet back. */
    std::size_t Place(std::size_t after) const
    {
        return (m_first + after) & (m_returns.size() - 1);
    }

    void Grow()
    {
        constexpr std::size_t LEAST = 8;
        std::vector<Returned> larger(std::max(LEAST, 2 * m_returns.size()));
        for (std::size_t i = 0; i < m_count; i++)
        {
            larger[i] = m_returns[Place(i)];
        }
        m_returns.swap(larger);
        m_first = 0;
    }

    std::vector<Returned> m_returns; //!< a ring of a power of two, by time
    std::size_t m_first{0};          //!< of m_returns that is not yet back
    std::size_t m_count{0};          //!< that are not
    int64_t m_units{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_LINK_CREDITS_H
