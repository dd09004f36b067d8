// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/segment-writer.h"

#include <algorithm>
#include <utility>

namespace weir
{

SegmentGroup
TokenGroup(const ParallelPlan& plan)
{
    return plan.HasGrid() ? SegmentGroup{GroupSlot::TensorRow, plan.grid.side}
                          : SegmentGroup{GroupSlot::Tensor, plan.tensor};
}

SegmentGroup
ColumnGroup(const ParallelPlan& plan)
{
    return {GroupSlot::TensorColumn,
            plan.grid.side,
            TimeCategory::Tensor,
            StreamKind::TensorColumnComm};
}

SegmentSequence
CloseSegment(KernelTable& kernels, const char* label)
{
    Segment segment;
    segment.label = kernels.Label(label);
    segment.kernels = kernels.Close();
    return {segment};
}

SegmentWriter::SegmentWriter(KernelTable& kernels, const ParallelPlan& plan)
    : m_kernels(kernels),
      m_plan(plan),
      m_tokenGroup(TokenGroup(plan)),
      m_elementBytes(ActivationBytes(plan.precision))
{
}

void
SegmentWriter::Section(const std::string& name)
{
    Close();
    m_open.continues = false;
    m_label = m_kernels.Label(name);
}

void
SegmentWriter::Gemm(const std::string& name, const GemmShape& shape)
{
    m_kernels.Gemm(name, shape);
}

void
SegmentWriter::Attention(const std::string& name, const AttentionShape& shape, bool isBackward)
{
    m_kernels.Attention(name, shape, isBackward);
}

void
SegmentWriter::Memory(const std::string& name,
                      MemoryKernel kernel,
                      const MatrixSize& size,
                      double bytesPerElement)
{
    m_kernels.Memory(name, kernel, size, bytesPerElement, m_elementBytes);
}

void
SegmentWriter::Elementwise(const std::string& name, const MatrixSize& size, double operands)
{
    Memory(name, MemoryKernel::Elementwise, size, operands * m_elementBytes);
}

void
SegmentWriter::GradientsReady(double parameters)
{
    m_open.parameters += parameters;
    if (parameters > 0 && OverlapsGradients(m_plan) && m_plan.DenseReplicas() > 1)
    {
        Part();
    }
}

void
SegmentWriter::ExpertGradientsReady(double parameters)
{
    m_open.expertParameters += parameters;
    if (parameters > 0 && OverlapsGradients(m_plan) && m_plan.ExpertReplicas() > 1)
    {
        Part();
    }
}

void
SegmentWriter::Part()
{
    Close();
    m_open.continues = m_segments.back().continues || m_segments.back().kernels.count > 0;
}

int32_t
SegmentWriter::Communicate(const std::string& name, CollectiveOp op, Bytes bytes)
{
    if (m_plan.overlapTensor)
    {
        return CommunicateIn(m_tokenGroup, name, op, bytes);
    }
    if (op == CollectiveOp::ReduceScatter)
    {
        CopyParts(name, bytes);
    }
    const int32_t communication = CommunicateIn(m_tokenGroup, name, op, bytes);
    WaitFor(communication);
    if (op == CollectiveOp::AllGather)
    {
        CopyParts(name, bytes);
    }
    return communication;
}

/**
 * Copies the parts of an all-gather or reduce-scatter. DTensor splits the sequence, which is not
 * the outermost dimension. A separate kernel concatenates the parts before a scatter, and joins
 * them along the sequence after a gather (PyTorch 2.3 to 2.7,
 * torch/distributed/_functional_collectives.py: cat of chunks).
 */
void
SegmentWriter::CopyParts(const std::string& name, Bytes bytes)
{
    if (m_tokenGroup.ranks > 1)
    {
        WriteBufferKernel(m_kernels,
                          (name + " copy").c_str(),
                          MemoryKernel::Elementwise,
                          bytes.ToDouble() / m_elementBytes,
                          2.0 * m_elementBytes);
    }
}

int32_t
SegmentWriter::CommunicateIn(
    const SegmentGroup& group, const std::string& name, CollectiveOp op, Bytes bytes, uint32_t root)
{
    if (group.ranks < 2)
    {
        return Segment::NOTHING;
    }
    Close();
    m_open.continues = false;
    if (m_open.waitsFor != Segment::NOTHING && StreamOf(m_open.waitsFor) != group.stream)
    {
        PushWait(); // a communication starts after everything that kernels issued here would wait
                    // for
    }
    Segment segment;
    segment.isCommunication = true;
    segment.communication = {group.stream,
                             StepOpKind::Collective,
                             op,
                             group.category,
                             group.slot,
                             bytes,
                             m_kernels.Label(name),
                             root,
                             group.byCopyEngine};
    m_segments.push_back(segment);
    return static_cast<int32_t>(m_segments.size()) - 1;
}

int32_t
SegmentWriter::ExchangeIn(const SegmentGroup& group,
                          const std::string& name,
                          Bytes bytes,
                          uint16_t traffic)
{
    const int32_t exchange = CommunicateIn(group, name, CollectiveOp::AllToAll, bytes);
    if (exchange != Segment::NOTHING)
    {
        m_segments.back().communication.traffic = traffic;
    }
    return exchange;
}

void
SegmentWriter::WaitFor(int32_t communication)
{
    if (communication == Segment::NOTHING)
    {
        return;
    }
    Close();
    m_open.continues = false;
    if (m_open.waitsFor != Segment::NOTHING && StreamOf(m_open.waitsFor) != StreamOf(communication))
    {
        PushWait(); // one segment waits for one stream
    }
    m_open.waitsFor = std::max(m_open.waitsFor, communication);
}

void
SegmentWriter::SynchronizeHost()
{
    Close();
    m_open.continues = false;
    m_open.synchronizes = true;
}

SegmentSequence
SegmentWriter::Take()
{
    Close();
    if (m_open.waitsFor != Segment::NOTHING)
    {
        PushWait();
    }
    return std::move(m_segments);
}

StreamKind
SegmentWriter::StreamOf(int32_t communication) const
{
    return m_segments[static_cast<std::size_t>(communication)].communication.stream;
}

/** Appends a segment without kernels, so that everything that follows waits. */
void
SegmentWriter::PushWait()
{
    m_open.label = m_label;
    m_segments.push_back(m_open);
    m_open = Segment();
}

void
SegmentWriter::Close()
{
    m_open.kernels = m_kernels.Close();
    if (m_open.kernels.count > 0 || m_open.parameters > 0 || m_open.expertParameters > 0)
    {
        m_open.label = m_label;
        m_segments.push_back(m_open);
        m_open = Segment();
    }
}

} // namespace weir
