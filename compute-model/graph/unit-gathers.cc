// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/unit-gathers.h"

#include "compute-model/layers/buffer-kernels.h"

#include <utility>

namespace weir
{

namespace
{

constexpr double FP32 = 4; // bytes of a sharded parameter

/** What every gather of a unit costs in copies on the compute stream. */
SegmentSequence
CopiesOf(double parameters, const ParallelPlan& plan, KernelTable& kernels)
{
    const double weight = ActivationBytes(plan.precision);
    if (plan.Sharded() != ShardedState::Full || parameters == 0)
    {
        return {};
    }
    // The rank's own part is cast to the weights' format for the collective (mixed precision).
    if (weight < FP32)
    {
        WriteBufferKernel(kernels,
                          "shard cast",
                          MemoryKernel::Elementwise,
                          parameters / plan.ShardRanks(),
                          FP32 + weight);
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
      m_uses(std::move(uses)),
      m_gathers(m_uses.size()),
      m_label(kernels.Label("unit weights all-gather"))
{
    const double weight = ActivationBytes(m_plan.precision);
    for (const double parameters : UnitParameters(source.model, m_plan, source.stage))
    {
        m_bytes.push_back(Bytes::Nearest(parameters * weight));
        const bool isAnother = m_copies.empty() || m_bytes.back() != m_bytes[m_bytes.size() - 2];
        m_copies.push_back(isAnother ? CopiesOf(parameters, m_plan, kernels) : m_copies.back());
    }
}

bool
UnitGathers::AreIn(const ParallelPlan& plan)
{
    return plan.ShardRanks() > 1 &&
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
    if (Gathers(use))
    {
        m_writer.Wait(m_gathers[use]);
        m_writer.Append(m_copies[m_uses[use].unit]);
    }
    IssueAhead();
}

bool
UnitGathers::Gathers(std::size_t use) const
{
    return m_uses[use].gathers && m_bytes[m_uses[use].unit] > Bytes();
}

void
UnitGathers::Issue(std::size_t use)
{
    if (!Gathers(use))
    {
        return;
    }
    CommunicationRequest request;
    request.stream = StreamKind::DataComm;
    request.collective = CollectiveOp::AllGather;
    request.category = TimeCategory::Data;
    request.slot = ShardSlot(m_plan);
    request.bytes = m_bytes[m_uses[use].unit];
    request.label = m_label;
    m_gathers[use] = m_writer.Communicate(request);
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
