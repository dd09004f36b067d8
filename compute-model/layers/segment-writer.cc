// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/segment-writer.h"

#include <algorithm>
#include <utility>

namespace weir
{

SegmentWriter::SegmentWriter(KernelTable& kernels, const ParallelPlan& plan)
    : m_kernels(kernels),
      m_tensorRanks(plan.tensor),
      m_overlapsTensor(plan.overlapTensor),
      m_elementBytes(ActivationBytes(plan.precision))
{
}

void
SegmentWriter::Section(const std::string& name)
{
    Close();
    m_label = m_kernels.Label(name);
}

void
SegmentWriter::Gemm(const std::string& name, const GemmShape& shape)
{
    m_kernels.Gemm(name, shape);
}

void
SegmentWriter::AttentionForward(const std::string& name, const AttentionShape& shape)
{
    m_kernels.AttentionForward(name, shape);
}

void
SegmentWriter::AttentionBackward(const std::string& name, const AttentionShape& shape)
{
    m_kernels.AttentionBackward(name, shape);
}

void
SegmentWriter::Memory(const std::string& name,
                      MemoryKernel kernel,
                      uint64_t rows,
                      uint64_t columns,
                      double bytesPerElement)
{
    m_kernels.Memory(name, kernel, rows, columns, bytesPerElement, m_elementBytes);
}

void
SegmentWriter::GradientsReady(double parameters)
{
    m_open.parameters += parameters;
}

void
SegmentWriter::ExpertGradientsReady(double parameters)
{
    m_open.expertParameters += parameters;
}

int32_t
SegmentWriter::Communicate(const std::string& name, CollectiveOp op, Bytes bytes)
{
    const int32_t communication =
        CommunicateIn({GroupSlot::Tensor, m_tensorRanks, TimeCategory::Tensor}, name, op, bytes);
    if (!m_overlapsTensor)
    {
        WaitFor(communication);
    }
    return communication;
}

int32_t
SegmentWriter::CommunicateIn(const SegmentGroup& group,
                             const std::string& name,
                             CollectiveOp op,
                             Bytes bytes)
{
    if (group.ranks < 2)
    {
        return Segment::NOTHING;
    }
    Close();
    Segment segment;
    segment.isCommunication = true;
    segment.label = m_kernels.Label(name);
    segment.collective = op;
    segment.bytes = bytes;
    segment.slot = group.slot;
    segment.category = group.category;
    m_segments.push_back(segment);
    return static_cast<int32_t>(m_segments.size()) - 1;
}

void
SegmentWriter::WaitFor(int32_t communication)
{
    if (communication != Segment::NOTHING)
    {
        Close();
        m_open.waitsFor = std::max(m_open.waitsFor, communication);
    }
}

void
SegmentWriter::SynchronizeHost()
{
    Close();
    m_open.synchronizes = true;
}

SegmentSequence
SegmentWriter::Take()
{
    Close();
    if (m_open.waitsFor != Segment::NOTHING)
    {
        m_open.label = m_label;
        m_segments.push_back(m_open); // no kernels: whatever comes next waits
        m_open = Segment();
    }
    return std::move(m_segments);
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

uint32_t
ActivationBytes(Precision precision)
{
    return std::max(2U, BytesOf(precision));
}

} // namespace weir
