// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_PEER_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_PEER_CALL_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/traffic.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * A call of grouped sends and receives as NCCL describes it to its kernels (enqueue.cc): all
 * messages at once, each split into parts on channels of its own, each part in the round and at the
 * place of both its blocks where it is their turn. FlowEngine plays it (PointToPointSchedule);
 * loads, caps and the longest chain for StreamEngine and the closed form are counted on it.
 *
 * A block has eight places. A rank's rounds on a channel take them in their order: the first round
 * goes to the first place, the ninth to the first again. A place sends its next part when it has
 * received those of the rounds before.
 */
class PeerCall
{
  public:
    /** What goes of one message over one channel. */
    struct Part
    {
        uint32_t message; //!< index
        uint32_t part;    //!< of the message
        uint32_t channel;
        uint32_t round;       //!< of the point-to-point order
        Bytes bytes;          //!< payload; the message's last part may be shorter than the others
        Bytes share;          //!< payload of each if all were equal
        uint32_t sender{0};   //!< its place, numbered through all blocks
        uint32_t receiver{0}; //!< as above
    };

    /** @p inputs must outlive it. O(parts + ranks x channels). */
    explicit PeerCall(const AlgorithmInputs& inputs);

    /** Message by message. */
    const std::vector<Part>& Parts() const
    {
        return m_parts;
    }

    const Message& MessageOf(const Part& part) const
    {
        return m_messages[part.message];
    }

    /** Whether it stays in its rank. */
    bool IsCopy(const Part& part) const
    {
        return MessageOf(part).from == MessageOf(part).to;
    }

    /** On the wire, if all parts of its message were equal. */
    Bytes WireShare(const Part& part) const;

    /** The first and largest slice of a part, on the wire. */
    Bytes SliceOf(const Part& part) const;

    /** Over how many channels any part goes, from the first one on. */
    uint32_t ChannelCount() const;

    /** Parts that the busiest block works on at once, besides copying a rank's own. */
    uint32_t PartsAtOnce() const
    {
        return m_partsAtOnce;
    }

    /** What a part moves at most, on the wire: parts of one block share what it can copy. */
    Rate PartCap() const;

    /** By place: bytes that the busier of its two directions moves, one part after another, on the
     * wire. */
    std::vector<Bytes> PlaceBytes() const;

    /** When the last part has come if parts take nothing but these latencies. */
    Time LongestChain(const std::vector<Time>& latencyOfPart) const;

    /** One direction of one round of a place. */
    struct Work
    {
        uint32_t rank;
        uint32_t place;
        uint32_t round;
        bool sends;
        uint32_t part; //!< index
    };

    /** What is done on one channel, rank by rank, place by place, round by round; in a round the
     * receive comes first. @param onChannel indices of the parts that go over it. */
    std::vector<Work> WorksOf(const std::vector<uint32_t>& onChannel) const;

  private:
    void Split();
    void OrderByRound();
    void FindPlaces();

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

    const AlgorithmInputs& m_in;
    std::vector<Message> m_messages;
    std::vector<Part> m_parts;
    std::vector<uint32_t> m_order; //!< parts by round
    uint32_t m_places{0};
    uint32_t m_partsAtOnce{1};
    uint32_t m_partsOfARank{0}; //!< that it sends at once
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_PEER_CALL_H
