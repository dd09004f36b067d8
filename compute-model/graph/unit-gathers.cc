// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/unit-gathers.h"

#include "compute-model/layers/kernel-table.h"
#include "compute-model/models/precision.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir
{

namespace
{

/** What every gather of a unit costs in copies on the compute stream. */
SegmentSequence
CopiesOf(double parameters, uint32_t ranks, const ParallelPlan& plan, KernelTable& kernels)
{
    const double weight = ActivationBytes(plan.precision);
    if (plan.Sharded() != ShardedState::Full || parameters == 0)
    {
        return {};
    }
    // The rank's own part is cast to the weights' format for the collective (mixed precision).
    if (weight < FP32_BYTES)
    {
        WriteBufferKernel(kernels,
                          "shard cast",
                          MemoryKernel::Elementwise,
                          parameters / ranks,
                          FP32_BYTES + weight);
    }
    if (plan.sharding.perParameter)
    {
        WriteBufferKernel(
            kernels, "gathered weights copy", MemoryKernel::Elementwise, parameters, 2 * weight);
    }
    Segment segment;
    segment.label = kernels.Label("gathered weights");
    segment.kernels = kernels.Close();
    return {segment};
}

} // namespace

UnitGathers::UnitGathers(const StageSource& source,
                         std::vector<UnitUse> uses,
                         KernelTable& kernels,
                         ProgramWriter& writer)
    : m_plan(source.plan),
      m_writer(writer),
      m_uses(std::move(uses))
{
    m_shares.push_back(ShareOf(UnitParameters(source.model, m_plan, source.stage),
                               ShardSlot(m_plan),
                               m_plan.ShardRanks(),
                               kernels.Label("unit weights all-gather"),
                               kernels));
    if (source.model.HasExperts())
    {
        m_shares.push_back(ShareOf(UnitExpertParameters(source.model, m_plan, source.stage),
                                   ExpertShardSlot(m_plan),
                                   m_plan.ExpertShardRanks(),
                                   kernels.Label("unit experts all-gather"),
                                   kernels));
    }
}

UnitGathers::Share
UnitGathers::ShareOf(const std::vector<double>& parameters,
                     GroupSlot slot,
                     uint32_t ranks,
                     uint32_t label,
                     KernelTable& kernels) const
{
    Share share{slot, ranks, label};
    const double weight = ActivationBytes(m_plan.precision);
    std::map<double, SegmentSequence> known; // by parameters
    for (const double ofUnit : parameters)
    {
        share.bytes.push_back(Bytes::Nearest(ofUnit * weight));
        const auto [copies, isNew] = known.try_emplace(ofUnit);
        if (isNew)
        {
            copies->second = CopiesOf(ofUnit, ranks, m_plan, kernels);
        }
        share.copies.push_back(copies->second);
    }
    share.gathers.resize(m_uses.size());
    return share;
}

bool
UnitGathers::AreIn(const ParallelPlan& plan)
{
    return std::max(plan.ShardRanks(), plan.ExpertShardRanks()) > 1 &&
           (plan.Sharded() == ShardedState::Full || plan.sharding.overlapGather);
}

void
UnitGathers::Next()
{
    const std::size_t use = m_now++;
    while (m_issued <= use)
    {
        Issue(m_issued++);
    }
    for (const Share& share : m_shares)
    {
        if (Gathers(share, use))
        {
            m_writer.Wait(share.gathers[use]);
        }
    }
    for (const Share& share : m_shares)
    {
        if (Gathers(share, use))
        {
            m_writer.Append(share.copies[m_uses[use].unit]);
        }
    }
    IssueAhead();
}

bool
UnitGathers::Gathers(const Share& share, std::size_t use) const
{
    return m_uses[use].gathers && share.ranks > 1 && share.bytes[m_uses[use].unit] > Bytes();
}

bool
UnitGathers::Gathers(std::size_t use) const
{
    return std::any_of(
        m_shares.begin(), m_shares.end(), [&](const Share& share) { return Gathers(share, use); });
}

void
UnitGathers::Issue(std::size_t use)
{
    for (Share& share : m_shares)
    {
        if (!Gathers(share, use))
        {
            continue;
        }
        CommunicationRequest request;
        request.stream = StreamKind::DataComm;
        request.collective = CollectiveOp::AllGather;
        request.category = TimeCategory::Data;
        request.slot = share.slot;
        request.bytes = share.bytes[m_uses[use].unit];
        request.label = share.label;
        share.gathers[use] = m_writer.Communicate(request);
    }
}

/** As many gathers ahead of the use at work as the plan prefetches. */
void
UnitGathers::IssueAhead()
{
    std::size_t ahead = 0;
    for (std::size_t use = m_now; use < m_uses.size(); use++)
    {
        if (!Gathers(use))
        {
            continue;
        }
        if (m_plan.Sharded() == ShardedState::Full && ahead == m_plan.sharding.prefetch)
        {
            return;
        }
        ahead++;
        while (m_issued <= use)
        {
            Issue(m_issued++);
        }
    }
}

} // namespace weir
