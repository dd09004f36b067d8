// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_LOAD_H
#define WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_LOAD_H

#include "collectives/algorithms/point-to-point/point-to-point.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What each of a block's eight places does, as in TurnsOf, reckoned without its schedule: rounds
 * one after the other, the next send when the receives of the rounds before have come.
 */
class PlaceLoads
{
  public:
    /** Both references must outlive it. O(parts + ranks x channels). */
    PlaceLoads(const AlgorithmInputs& inputs,
               const std::vector<Message>& messages,
               const std::vector<MessagePart>& parts);

    /** What the busier of a part's two places moves, one part after another, on the wire. */
    Bytes BytesAround(std::size_t part) const
    {
        return std::max(m_bytes[m_ends[part].from], m_bytes[m_ends[part].to]);
    }

    /** What the busiest place moves. */
    Bytes Most() const;

    /**
     * When the last part has come if parts take nothing but these latencies: a part starts when
     * its sender's place has received all of its rounds before.
     */
    Time LongestChain(const std::vector<Time>& latencyOfPart) const;

  private:
    struct Ends
    {
        uint32_t from{0}; //!< place of the sender
        uint32_t to{0};   //!< of the receiver
    };

    void OrderByRound();
    void FindPlaces(const AlgorithmInputs& inputs, const std::vector<Message>& messages);
    void AddBytes(Protocol protocol);

    /** Calls @p send and @p receive with every part of a round, round by round. */
    template <class Send, class Receive>
    void ForRounds(Send send, Receive receive) const
    {
        for (std::size_t first = 0; first < m_order.size();)
        {
            std::size_t end = first;
            const uint32_t round = m_parts[m_order[first]].round;
            for (; end < m_order.size() && m_parts[m_order[end]].round == round; ++end)
            {
                send(m_order[end]);
            }
            for (; first < end; ++first)
            {
                receive(m_order[first]);
            }
        }
    }

    const std::vector<MessagePart>& m_parts;
    std::vector<uint32_t> m_order; //!< parts by round
    std::vector<Ends> m_ends;      //!< by part
    std::vector<Bytes> m_bytes;    //!< by place
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_LOAD_H
