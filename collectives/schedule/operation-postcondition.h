// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_OPERATION_POSTCONDITION_H
#define WEIR_COLLECTIVES_SCHEDULE_OPERATION_POSTCONDITION_H

#include "collectives/schedule/rank-set.h"
#include "collectives/schedule/schedule.h"

#include <cstdint>
#include <vector>

namespace weir
{

/**
 * What an operation gives every rank to begin with and must have given it in the end, chunk by
 * chunk of one channel, in sets of ranks whose data is summed. For operations in which every rank
 * has its own part (all-gather, reduce-scatter, gather, scatter), chunk i is the part of the rank
 * at place i of the channel.
 */
class OperationPostcondition
{
  public:
    /** @p channel must outlive it. O(blocks). */
    OperationPostcondition(CollectiveOp op,
                           const ChannelSchedule& channel,
                           uint32_t ranks,
                           uint32_t root);

    /** The input of @p block in @p chunk; empty: it has none. A switch never has. */
    RankSet Input(const ThreadBlock& block, uint32_t chunk) const;

    /** What the rank of @p block must have of @p chunk in the end; empty: nothing is required. */
    RankSet Output(const ThreadBlock& block, uint32_t chunk) const;

  private:
    RankSet PartOf(uint32_t place) const;

    CollectiveOp m_op;
    uint32_t m_ranks;
    uint32_t m_root;
    std::vector<uint32_t> m_rankAt; //!< by place
};

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_OPERATION_POSTCONDITION_H
