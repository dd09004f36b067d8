// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_ORDER_H
#define WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_ORDER_H

#include "collectives/communicator.h"
#include "fabric/topology/cluster.h"

#include <cstdint>
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

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_ORDER_H
