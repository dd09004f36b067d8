// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/unit-collectives.h"

#include "compute-model/layers/kernel-table.h"
#include "compute-model/models/precision.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weir
{

namespace
{

/** The weights of a stage's ranks that are sharded by units: the dense ones, and experts' if any.
 */
std::vector<RankWeights>
UnitWeightsOf(const StageSource& source)
{
    auto [dense, experts] = WeightsOf(source.model, source.plan, source.stage);
    std::vector<RankWeights> weights{std::move(dense)};
    if (source.model.HasExperts())
    {
        weights.push_back(std::move(experts));
    }
    return weights;
}

/** By unit: @p make(parameters), called once for all units of equally many parameters. */
template <typename Value, typename Make>
std::vector<Value>
ByUnit(const std::vector<double>& units, const Make& make)
{
    std::map<double, Value> known;
    std::vector<Value> byUnit;
    for (const double parameters : units)
    {
        const auto [value, isNew] = known.try_emplace(parameters);
        if (isNew)
        {
            value->second = make(parameters);
        }
        byUnit.push_back(value->second);
    }
    return byUnit;
}

/** Copies on the compute stream for every gather of a unit. */
SegmentSequence
CopiesOf(double parameters, uint32_t ranks, const ParallelPlan& plan, KernelTable& kernels)
{
    const double weight = ActivationBytes(plan.precision);
    if (plan.Sharded() != ShardedState::Full || parameters == 0)
    {
        return {};
    }
    // The rank's own part is cast to the weights' precision for the collective (mixed precision).
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
    return CloseSegment(kernels, "gathered weights");
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
    for (const RankWeights& weights : UnitWeightsOf(source))
    {
        const char* label =
            weights.ofExperts ? "unit experts all-gather" : "unit weights all-gather";
        Share& share = m_shares.emplace_back(Share{weights, kernels.Label(label)});
        share.copies = ByUnit<SegmentSequence>(weights.units, [&](double ofUnit) {
            return CopiesOf(ofUnit, weights.shardRanks, m_plan, kernels);
        });
        share.gathers.resize(m_uses.size());
    }
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
    IssueUntil(m_now);
    for (const Share& share : m_shares)
    {
        if (BytesOf(share, use) > Bytes())
        {
            m_writer.Wait(share.gathers[use]);
        }
    }
    for (const Share& share : m_shares)
    {
        if (BytesOf(share, use) > Bytes())
        {
            m_writer.Append(share.copies[m_uses[use].unit]);
        }
    }
    IssueAhead();
}

/** What is gathered for a use; none if the rank holds it. */
Bytes
UnitGathers::BytesOf(const Share& share, std::size_t use) const
{
    return m_uses[use].gathers && share.shardRanks > 1
               ? Bytes::Nearest(share.units[m_uses[use].unit] * ActivationBytes(m_plan.precision))
               : Bytes();
}

bool
UnitGathers::Gathers(std::size_t use) const
{
    return std::any_of(m_shares.begin(), m_shares.end(), [&](const Share& share) {
        return BytesOf(share, use) > Bytes();
    });
}

/** Issues the gathers of the uses before @p end that have not been issued yet. */
void
UnitGathers::IssueUntil(std::size_t end)
{
    for (; m_issued < end; m_issued++)
    {
        for (Share& share : m_shares)
        {
            const Bytes bytes = BytesOf(share, m_issued);
            if (bytes > Bytes())
            {
                share.gathers[m_issued] = m_writer.Communicate(
                    DataRequest(CollectiveOp::AllGather, share.shardSlot, bytes, share.label));
            }
        }
    }
}

/** Issues the gathers that the plan prefetches ahead of the current use. */
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
        IssueUntil(use + 1);
    }
}

UnitReductions::UnitReductions(const StageSource& source,
                               KernelTable& kernels,
                               ProgramWriter& writer)
    : m_plan(source.plan),
      m_kernels(kernels),
      m_writer(writer),
      m_passes(m_plan.virtualStages, 0),
      m_replicasLabel(kernels.Label("unit gradients all-reduce"))
{
    for (const RankWeights& weights : UnitWeightsOf(source))
    {
        const char* label =
            weights.ofExperts ? "unit experts reduce-scatter" : "unit gradients reduce-scatter";
        m_shares.push_back({weights, kernels.Label(label)});
    }
    for (Share& share : m_shares)
    {
        share.copies = ByUnit<Copies>(
            share.units, [&](double parameters) { return CopiesOf(parameters, share.shardRanks); });
    }
}

UnitReductions::Copies
UnitReductions::CopiesOf(double parameters, uint32_t ranks)
{
    const double produced = ActivationBytes(m_plan.precision);
    const double reduced = GradientBytes(m_plan);
    Copies copies;
    // Gradients of views are joined to that of the flat parameter, then cast; gradients of separate
    // tensors are joined and cast in one kernel.
    if (!m_plan.sharding.perParameter)
    {
        WriteBufferKernel(
            m_kernels, "flat gradient", MemoryKernel::Elementwise, parameters, 2 * produced);
    }
    if (m_plan.sharding.perParameter || reduced != produced)
    {
        WriteBufferKernel(m_kernels,
                          "gradients to buffer",
                          MemoryKernel::Elementwise,
                          parameters,
                          produced + reduced);
    }
    copies.toBuffer = CloseSegment(m_kernels, "gradients to buffer");
    WriteBufferKernel(m_kernels,
                      "gradient accumulate",
                      MemoryKernel::Elementwise,
                      parameters,
                      produced + 2 * reduced);
    copies.accumulate = CloseSegment(m_kernels, "gradient accumulate");
    WriteBufferKernel(m_kernels,
                      "gradient shard add",
                      MemoryKernel::Elementwise,
                      parameters / ranks,
                      3 * reduced);
    copies.addShard = CloseSegment(m_kernels, "gradient shard add");
    return copies;
}

void
UnitReductions::BeginPass(uint32_t chunk)
{
    m_chunk = chunk;
    m_passes[chunk]++;
}

void
UnitReductions::EndUnit(uint32_t unit)
{
    const bool isFirst = m_passes[m_chunk] == 1;
    const bool isLast = m_passes[m_chunk] == m_plan.MicroBatches();
    for (const Share& share : m_shares)
    {
        if (share.units[unit] > 0 && !m_plan.sharding.everyPass && !isFirst)
        {
            m_writer.Append(share.copies[unit].accumulate);
        }
    }
    for (const Share& share : m_shares)
    {
        if (share.units[unit] > 0 && (m_plan.sharding.everyPass || isLast))
        {
            Reduce(share, unit);
        }
    }
}

void
UnitReductions::EndPass()
{
    m_writer.WaitForAll(m_issued);
    for (const SegmentSequence* added : m_added)
    {
        if (m_plan.sharding.everyPass && m_passes[m_chunk] > 1)
        {
            m_writer.Append(*added);
        }
    }
    m_added.clear();
}

void
UnitReductions::Reduce(const Share& share, uint32_t unit)
{
    m_writer.Append(share.copies[unit].toBuffer);
    m_added.push_back(&share.copies[unit].addShard);
    const Bytes bytes = Bytes::Nearest(share.units[unit] * GradientBytes(m_plan));
    CommunicationRequest request =
        DataRequest(CollectiveOp::ReduceScatter, share.shardSlot, bytes, share.label);
    const bool scatters = share.shardRanks > 1; // an expert's sharding group may be one rank
    if (scatters)
    {
        m_issued.push_back(m_writer.Communicate(request));
    }
    if (m_plan.ShardCopies() > 1)
    {
        request.stream = StreamKind::ReplicaComm;
        request.collective = CollectiveOp::AllReduce;
        request.slot = share.copiesSlot;
        request.bytes = bytes / static_cast<int64_t>(share.shardRanks);
        request.label = m_replicasLabel;
        m_issued.push_back(scatters ? m_writer.CommunicateAfter(request, m_issued.back())
                                    : m_writer.Communicate(request));
    }
}

} // namespace weir
