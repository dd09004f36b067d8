// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_LINK_CREDITS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_LINK_CREDITS_H

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
        while (m_first < m_returns.size() && m_returns[m_first].time <= now)
        {
            m_units += m_returns[m_first++].units;
        }
        if (m_first == m_returns.size())
        {
            m_returns.clear();
            m_first = 0;
        }
        else if (m_first > 64 && m_first * 2 > m_returns.size())
        {
            m_returns.erase(m_returns.begin(),
                            m_returns.begin() + static_cast<std::ptrdiff_t>(m_first));
            m_first = 0;
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
        if (m_first < m_returns.size() && m_returns.back().time >= time)
        {
            m_returns.back().units += units;
            return;
        }
        m_returns.push_back({time, units});
    }

    /** When @p units are there, of those that are on their way back; UNKNOWN: not yet. */
    int64_t TimeOf(int64_t units) const
    {
        int64_t sum = m_units;
        for (std::size_t i = m_first; i < m_returns.size(); i++)
        {
            sum += m_returns[i].units;
            if (sum >= units)
            {
                return m_returns[i].time;
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

    std::vector<Returned> m_returns; //!< by time
    std::size_t m_first{0};          //!< of m_returns that is not yet back
    int64_t m_units{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_LINK_CREDITS_H
