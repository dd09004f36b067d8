// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_PEER_CALL_H
#define WEIR_COLLECTIVES_ALGORITHMS_PEER_CALL_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/traffic.h"
#include "collectives/communicator.h"
#include "fabric/topology/cluster.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace weir
{

/**
 * The order in which a rank serves its peers, and the channels that it uses (NCCL's p2pSchedule in
 * init.cc and channel.h).
 *
 * In every round each rank sends to one peer and receives from another: by node distance, and in it
 * by GPU distance, both in the order 0, 1, 3, 6, 10, ... (triangular numbers modulo a power of two,
 * so that consecutive rounds have distant peers). On one node every round starts on a channel of
 * its own; on several nodes up to eight rounds of one node distance share it. Further channels of a
 * message are spread evenly over all channels.
 */
class PointToPointOrder
{
  public:
    PointToPointOrder(const Communicator& communicator, const Cluster& cluster);

    /**
     * The round in which @p from sends to @p to. In a round each rank has one peer in each
     * direction.
     */
    uint32_t RoundOf(uint32_t from, uint32_t to) const;

    /**
     * The channel of the @p part-th part of a message of @p round; @p channels is a power of two.
     */
    uint32_t ChannelOf(uint32_t round, uint32_t part, uint32_t channels) const;

    /** Number of sends or receives that one thread block works on concurrently. */
    static constexpr uint32_t WORKS_AT_ONCE = 8; // NCCL_MAX_DEV_WORK_P2P_PER_BATCH

  private:
    std::vector<uint32_t> m_node;  //!< by rank: its node, numbered in the order of first ranks
    std::vector<uint32_t> m_local; //!< by rank: its index in its node
    std::vector<uint32_t> m_nodeDistanceIndex; //!< by node distance: its index in the order
    std::vector<uint32_t> m_gpuDistanceIndex;  //!< by GPU distance: as above
};

/**
 * A call of grouped sends and receives as NCCL describes it to its kernels (enqueue.cc): all
 * messages start at once. Each is split into parts on channels of its own, and each part has a
 * round and a work slot in the blocks at both ends. FlowEngine plays the call
 * (DescribePointToPoint); loads, caps and the longest chain for StreamEngine and the closed form
 * are computed from it.
 *
 * A block has eight work slots. A rank's rounds on a channel use them round-robin: the first round
 * uses the first slot, the ninth the first slot again. A slot sends its next part when it has
 * received those of the rounds before.
 */
class PeerCall
{
  public:
    /** The part of one message on one channel. */
    struct Part
    {
        uint32_t message; //!< index
        uint32_t part;    //!< index in the message
        uint32_t channel;
        uint32_t round;       //!< of the point-to-point order
        Bytes bytes;          //!< payload; the message's last part may be shorter than the others
        Bytes share;          //!< payload of each part of the message if all were equal
        uint32_t sender{0};   //!< its work slot, numbered across all blocks
        uint32_t receiver{0}; //!< as above
    };

    /** @p inputs must outlive it. O(parts + ranks x channels). */
    explicit PeerCall(const AlgorithmInputs& inputs);

    /** In the order of messages. */
    const std::vector<Part>& Parts() const
    {
        return m_parts;
    }

    /** Indices of the parts, by round. */
    const std::vector<uint32_t>& ByRound() const
    {
        return m_order;
    }

    const Message& MessageOf(const Part& part) const
    {
        return m_messages[part.message];
    }

    /** Whether sender and receiver are the same rank. */
    bool IsCopy(const Part& part) const
    {
        return MessageOf(part).from == MessageOf(part).to;
    }

    /** Bytes on the wire, if all parts of its message were equal. */
    Bytes WireShare(const Part& part) const;

    /** Bytes on the wire of the first and largest slice of a part. */
    Bytes SliceOf(const Part& part) const;

    /** Number of channels that parts use, counted from the first channel on. */
    uint32_t ChannelCount() const;

    /**
     * Number of parts that the busiest block works on concurrently, besides copying a rank's own
     * part.
     */
    uint32_t PartsAtOnce() const
    {
        return m_partsAtOnce;
    }

    /** Upper bound of a part's rate on the wire: parts of one block share its copy rate. */
    Rate PartCap() const;

    /**
     * By work slot: bytes on the wire of the busier of its two directions, one part after another.
     * @param includes whether a part counts; null: all do
     */
    std::vector<Bytes> SlotBytes(const std::function<bool(const Part&)>& includes = nullptr) const;

    /** When the last part has arrived, if parts take only these latencies. */
    Time LongestChain(const std::vector<Time>& latencyOfPart) const;

    /** One direction of one round of a work slot. */
    struct Work
    {
        uint32_t rank;
        uint32_t slot;
        uint32_t round;
        bool sends;
        uint32_t part; //!< index of the part
    };

    /**
     * The works on one channel, by rank, work slot and round; in a round the receive comes first.
     * @param onChannel indices of the parts on this channel
     */
    std::vector<Work> WorksOf(const std::vector<uint32_t>& onChannel) const;

  private:
    void Split();
    void OrderByRound();
    void AssignSlots();

    /** Calls @p send with every part of a round, then @p receive with each, round by round. */
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
    std::vector<uint32_t> m_order; //!< indices of parts, by round
    uint32_t m_slotCount{0};
    uint32_t m_partsAtOnce{1};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_PEER_CALL_H
