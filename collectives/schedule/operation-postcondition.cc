// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/schedule/operation-postcondition.h"

namespace weir
{

OperationPostcondition::OperationPostcondition(CollectiveOp op,
                                               const ChannelSchedule& channel,
                                               uint32_t ranks,
                                               uint32_t root)
    : m_op(op),
      m_ranks(ranks),
      m_root(root),
      m_rankAt(ranks, 0)
{
    for (const auto& block : channel.blocks)
    {
        if (block.rank < ranks && block.place < ranks)
        {
            m_rankAt[block.place] = block.rank;
        }
    }
}

RankSet
OperationPostcondition::Input(const ThreadBlock& block, uint32_t chunk) const
{
    bool has = block.rank < m_ranks;
    switch (m_op)
    {
    case CollectiveOp::AllReduce:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::Reduce:
    case CollectiveOp::AllToAll:
    case CollectiveOp::SendRecv:
        break;
    case CollectiveOp::AllGather:
    case CollectiveOp::Gather:
        has = has && chunk == block.place;
        break;
    case CollectiveOp::Broadcast:
    case CollectiveOp::Scatter:
        has = has && block.rank == m_root;
        break;
    case CollectiveOp::Send:
        has = has && block.rank == 0;
        break;
    }
    return has ? RankSet::Only(block.rank, m_ranks) : RankSet();
}

RankSet
OperationPostcondition::PartOf(uint32_t place) const
{
    return place < m_ranks ? RankSet::Only(m_rankAt[place], m_ranks) : RankSet();
}

RankSet
OperationPostcondition::Output(const ThreadBlock& block, uint32_t chunk) const
{
    const bool own = chunk == block.place; // its part is where it belongs already, or copied
    const bool isRoot = block.rank == m_root;
    if (block.rank >= m_ranks)
    {
        return {};
    }
    switch (m_op)
    {
    case CollectiveOp::AllReduce:
        return RankSet::All(m_ranks);
    case CollectiveOp::Reduce:
        return isRoot ? RankSet::All(m_ranks) : RankSet();
    case CollectiveOp::ReduceScatter:
        return own ? RankSet::All(m_ranks) : RankSet();
    case CollectiveOp::AllGather:
        return own ? RankSet() : PartOf(chunk);
    case CollectiveOp::Gather:
        return isRoot && !own ? PartOf(chunk) : RankSet();
    case CollectiveOp::Broadcast:
        return isRoot ? RankSet() : RankSet::Only(m_root, m_ranks);
    case CollectiveOp::Scatter:
        return own && !isRoot ? RankSet::Only(m_root, m_ranks) : RankSet();
    case CollectiveOp::SendRecv:
        return RankSet::Only((block.rank + m_ranks - 1) % m_ranks, m_ranks);
    case CollectiveOp::Send:
        return block.rank == 1 ? RankSet::Only(0, m_ranks) : RankSet();
    case CollectiveOp::AllToAll:
        break;
    }
    return {};
}

} // namespace weir
