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
 * The order in which a rank works on its peers, and the channels it does it on (NCCL's
 * p2pSchedule in init.cc and channel.h).
 *
 * In every round each rank sends to one peer and receives from another: node distance by node
 * distance, and in each node GPU distance by GPU distance, both in the order 0, 1, 3, 6, 10, ...
 * (triangular numbers modulo a power of two, in which neighbors in time are far apart in space).
 * A round begins on a channel of its own, on one node; over several nodes up to eight rounds of one
 * node distance share it. Further channels of a message are spread evenly over all of them.
 */
class PointToPointOrder
{
  public:
    PointToPointOrder(const Communicator& communicator, const Cluster& cluster);

    /** The round in which @p from sends to @p to; each is the other's only peer in that sense. */
    uint32_t RoundOf(uint32_t from, uint32_t to) const;

    /** Channel of the @p part-th part of a message of @p round, of a power of two of @p channels.
     */
    uint32_t ChannelOf(uint32_t round, uint32_t part, uint32_t channels) const;

    /** Sends or receives that one thread block works on at once. */
    static constexpr uint32_t WORKS_AT_ONCE = 8; // NCCL_MAX_DEV_WORK_P2P_PER_BATCH

  private:
    std::vector<uint32_t> m_node;       //!< by rank, in the order in which ranks name them
    std::vector<uint32_t> m_local;      //!< by rank, among those of its node
    std::vector<uint32_t> m_nodePlace;  //!< by node distance: which one it is in the order
    std::vector<uint32_t> m_localPlace; //!< as above by GPU distance
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_POINT_TO_POINT_ORDER_H
