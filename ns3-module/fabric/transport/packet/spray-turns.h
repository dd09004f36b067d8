// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_SPRAY_TURNS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_SPRAY_TURNS_H

#include "fabric/transport/packet/packet-spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Which of its paths a queue pair's next packet takes (QueuePairSpec::pathChoice): each in its
 * turn, one that has just answered without a mark before that (REPS, Bonato et al., 2024), or but
 * those that were marked or trimmed, for as many turns as that weighs (the bitmap of htsim's
 * uec_mp.cpp, of which the weights are). A path is its index. Next is O(1) but for paths that are
 * passed over.
 */
class SprayTurns
{
  public:
    static constexpr unsigned MARKED = 1;       //!< turns that a path is passed over for a mark
    static constexpr unsigned TRIMMED = 4;      //!< for a trimmed packet
    static constexpr unsigned MAX_PENALTY = 15; //!< at most

    /** The path of the next packet, of @p count. */
    uint32_t Next(PathChoice choice, uint32_t count)
    {
        if (Recycles(choice) && m_nextGood < m_good.size())
        {
            return m_good[m_nextGood++];
        }
        for (;;)
        {
            const uint32_t path = m_turn;
            m_turn = path + 1 == count ? 0 : path + 1;
            if (m_penalties.empty() || m_penalties[path] == 0)
            {
                return path;
            }
            m_penalties[path]--;
        }
    }

    /** A packet by @p path, of @p count, was answered. @param penalty 0: nothing was wrong. */
    void OnAnswer(PathChoice choice, uint32_t path, uint32_t count, unsigned penalty)
    {
        if (path >= count)
        {
            return; // of paths that are others now
        }
        if (penalty > 0 && Avoids(choice))
        {
            m_penalties.resize(count, 0);
            const unsigned sum = m_penalties[path] + penalty;
            m_penalties[path] = static_cast<uint8_t>(std::min(MAX_PENALTY, sum));
        }
        if (penalty == 0 && Recycles(choice))
        {
            if (m_nextGood == m_good.size())
            {
                m_good.clear();
                m_nextGood = 0;
            }
            else if (m_nextGood >= 64 && m_nextGood * 2 >= m_good.size())
            {
                m_good.erase(m_good.begin(),
                             m_good.begin() + static_cast<std::ptrdiff_t>(m_nextGood));
                m_nextGood = 0;
            }
            m_good.push_back(path);
        }
    }

  private:
    static bool Avoids(PathChoice choice)
    {
        return choice == PathChoice::Avoid || choice == PathChoice::Mixed;
    }

    static bool Recycles(PathChoice choice)
    {
        return choice == PathChoice::Recycle || choice == PathChoice::Mixed;
    }

    uint32_t m_turn{0};
    std::vector<uint8_t> m_penalties; //!< by path: turns that it is passed over; empty: none
    std::vector<uint32_t> m_good;     //!< answered without a mark, the oldest first
    std::size_t m_nextGood{0};        //!< into m_good: those before it are taken
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_SPRAY_TURNS_H
