// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/unit-reductions.h"

#include "compute-model/graph/optimizer-program.h"
#include "compute-model/layers/buffer-kernels.h"
#include "compute-model/plan/shard-units.h"

namespace weir
{

UnitReductions::UnitReductions(const StageSource& source,
                               KernelTable& kernels,
                               ProgramWriter& writer)
    : m_plan(source.plan),
      m_kernels(kernels),
      m_writer(writer),
      m_parameters(UnitParameters(source.model, source.plan, source.stage)),
      m_passes(m_plan.virtualStages, 0),
      m_scatterLabel(kernels.Label("unit gradients reduce-scatter")),
      m_replicasLabel(kernels.Label("unit gradients all-reduce"))
{
    for (std::size_t unit = 0; unit < m_parameters.size(); unit++)
    {
        const bool isAnother = unit == 0 || m_parameters[unit] != m_parameters[unit - 1];
        m_copies.push_back(isAnother ? CopiesOf(m_parameters[unit]) : m_copies.back());
    }
}

UnitReductions::Copies
UnitReductions::CopiesOf(double parameters)
{
    const double produced = ActivationBytes(m_plan.precision);
    const double reduced = GradientBytes(m_plan);
    const auto close = [this](const char* label) {
        Segment segment;
        segment.label = m_kernels.Label(label);
        segment.kernels = m_kernels.Close();
        return SegmentSequence{segment};
    };
    Copies copies;
    // Gradients of views are joined to that of the flat parameter, then cast; gradients of single
    // tensors are joined and cast at once.
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
    copies.toBuffer = close("gradients to buffer");
    WriteBufferKernel(m_kernels,
                      "gradient accumulate",
                      MemoryKernel::Elementwise,
                      parameters,
                      produced + 2 * reduced);
    copies.accumulate = close("gradient accumulate");
    WriteBufferKernel(m_kernels,
                      "gradient shard add",
                      MemoryKernel::Elementwise,
                      parameters / m_plan.ShardRanks(),
                      3 * reduced);
    copies.addShard = close("gradient shard add");
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
    if (m_parameters[unit] == 0)
    {
        return;
    }
    const bool isFirst = m_passes[m_chunk] == 1;
    const bool isLast = m_passes[m_chunk] == m_plan.MicroBatches();
    if (!m_plan.sharding.everyPass && !isFirst)
    {
        m_writer.Append(m_copies[unit].accumulate);
    }
    if (m_plan.sharding.everyPass || isLast)
    {
        Reduce(unit);
    }
}

void
UnitReductions::EndPass()
{
    for (const StepDependency& operation : m_issued)
    {
        m_writer.Wait(operation);
    }
    m_issued.clear();
    if (m_plan.sharding.everyPass && m_passes[m_chunk] > 1)
    {
        for (const uint32_t unit : m_reduced)
        {
            m_writer.Append(m_copies[unit].addShard);
        }
    }
    m_reduced.clear();
}

void
UnitReductions::Reduce(uint32_t unit)
{
    m_writer.Append(m_copies[unit].toBuffer);
    m_reduced.push_back(unit);
    if (m_plan.DenseReplicas() == 1)
    {
        return;
    }
    const Bytes bytes = Bytes::Nearest(m_parameters[unit] * GradientBytes(m_plan));
    CommunicationRequest request;
    request.stream = StreamKind::DataComm;
    request.category = TimeCategory::Data;
    request.collective = CollectiveOp::ReduceScatter;
    request.slot = ShardSlot(m_plan);
    request.bytes = bytes;
    request.label = m_scatterLabel;
    m_issued.push_back(m_writer.Communicate(request));
    if (ShardCopies(m_plan) > 1)
    {
        request.stream = StreamKind::ReplicaComm;
        request.collective = CollectiveOp::AllReduce;
        request.slot = GroupSlot::Replicas;
        request.bytes = bytes / static_cast<int64_t>(m_plan.ShardRanks());
        request.label = m_replicasLabel;
        m_issued.push_back(m_writer.CommunicateBehind(request, m_issued.back()));
    }
}

} // namespace weir
