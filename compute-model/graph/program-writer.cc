// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/program-writer.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr auto COMPUTE = static_cast<std::size_t>(StreamKind::Compute);
constexpr auto TENSOR = static_cast<std::size_t>(StreamKind::TensorComm);

} // namespace

ProgramWriter::ProgramWriter(KernelTable& kernels, StepProgram& program, const HostCosts& host)
    : m_kernels(kernels),
      m_program(program),
      m_host(host)
{
    m_pending.fill(NOTHING);
}

void
ProgramWriter::SetLayer(uint32_t microBatch, uint32_t layer)
{
    m_isTail = m_isTail && microBatch == m_microBatch;
    m_microBatch = microBatch;
    m_layer = layer;
}

void
ProgramWriter::Append(const SegmentSequence& sequence,
                      GradientBuckets* ready,
                      uint32_t gradientBytes)
{
    std::vector<StepDependency> issued(sequence.size());
    bool isAwaited = false; // a communication waits for exactly the kernels so far
    for (std::size_t i = 0; i < sequence.size(); i++)
    {
        const Segment& segment = sequence[i];
        if (segment.isCommunication)
        {
            issued[i] = Communicate(segment.communication);
            continue;
        }
        if (segment.waitsFor != Segment::NOTHING)
        {
            Wait(issued[static_cast<std::size_t>(segment.waitsFor)]);
        }
        if (segment.synchronizes)
        {
            SynchronizeHost();
        }
        if (segment.continues && !isAwaited)
        {
            JoinLast(segment);
        }
        else
        {
            AppendCompute(segment);
        }
        isAwaited = isAwaited && segment.kernels.count == 0;
        for (const bool ofExperts : {false, true})
        {
            const double parameters = ofExperts ? segment.expertParameters : segment.parameters;
            if (ready != nullptr && parameters > 0)
            {
                m_isTail = false; // the last bucket may wait for exactly these kernels
                isAwaited |= ready->Add(
                    {LastCompute(), Bytes::Nearest(parameters * gradientBytes), ofExperts});
            }
        }
    }
}

void
ProgramWriter::AppendKernels(const char* label)
{
    Append(CloseSegment(m_kernels, label));
}

void
ProgramWriter::AppendCompute(const Segment& segment)
{
    if (segment.kernels.count == 0)
    {
        return;
    }
    auto& ops = m_program.streams[COMPUTE];
    if (m_isTail && !HasPending())
    {
        JoinLast(segment);
        return;
    }
    StepOp op;
    if (m_synchronizes)
    {
        m_synchronizes = false;
        m_issued = Time();
        m_epoch++;
        op.synchronizes = true;
    }
    op.label = segment.label;
    op.duration = segment.kernels.duration;
    op.launch = m_issued;
    op.launchBound = m_host.kernel > Time() ? segment.kernels.launchBound : Time();
    op.epoch = m_epoch;
    m_issued += segment.kernels.host;
    op.firstKernel = segment.kernels.first;
    op.kernelCount = static_cast<uint16_t>(segment.kernels.count);
    op.microBatch = m_microBatch;
    op.layer = m_layer;
    op.firstDependency = static_cast<uint32_t>(m_program.dependencies.size());
    AddPending(op, StreamKind::Compute);
    m_isTail = m_pending[TENSOR] != NOTHING;
    m_pending.fill(NOTHING);
    ops.push_back(op);
}

/** Appends the kernels to the last compute operation. */
void
ProgramWriter::JoinLast(const Segment& segment)
{
    StepOp& last = m_program.streams[COMPUTE].back();
    const KernelRange before{last.firstKernel,
                             last.kernelCount,
                             last.duration,
                             m_issued - last.launch,
                             last.launchBound};
    const KernelRange joined = m_kernels.Concatenate(before, segment.kernels);
    if (segment.kernels.duration > before.duration)
    {
        last.label = segment.label;
        last.layer = m_layer;
    }
    last.firstKernel = joined.first;
    last.kernelCount = static_cast<uint16_t>(joined.count);
    last.duration = joined.duration;
    last.launchBound = m_host.kernel > Time() ? joined.launchBound : Time();
    m_issued += segment.kernels.host;
}

StepDependency
ProgramWriter::Communicate(const CommunicationRequest& request)
{
    StepOp op = IssueCommunication();
    if (!m_program.streams[COMPUTE].empty())
    {
        AddDependency(op, StreamKind::Compute, LastCompute());
    }
    AddPending(op, request.stream);
    return AppendCommunication(request, op);
}

StepDependency
ProgramWriter::CommunicateAfter(const CommunicationRequest& request,
                                const StepDependency& operation)
{
    StepOp op = IssueCommunication();
    AddDependency(op, operation.stream, operation.position);
    return AppendCommunication(request, op);
}

StepDependency
ProgramWriter::CommunicateFreely(const CommunicationRequest& request)
{
    StepOp op = IssueCommunication();
    op.launch = Time();
    return AppendCommunication(request, op);
}

/** A communication that the CPU launches next, still without dependencies. */
StepOp
ProgramWriter::IssueCommunication()
{
    StepOp op;
    op.firstDependency = static_cast<uint32_t>(m_program.dependencies.size());
    m_issued += m_host.communication;
    op.launch = m_issued;
    return op;
}

StepDependency
ProgramWriter::AppendCommunication(const CommunicationRequest& request, StepOp op)
{
    op.kind = request.kind;
    op.collective = request.collective;
    op.category = request.category;
    op.group = static_cast<uint16_t>(request.slot);
    op.label = request.label;
    op.bytes = request.bytes;
    op.traffic = request.traffic;
    op.root = static_cast<uint16_t>(request.root);
    op.byCopyEngine = request.byCopyEngine;
    op.microBatch = m_microBatch;
    op.layer = m_layer;
    op.epoch = m_epoch;
    m_isTail = false;
    auto& ops = m_program.streams[static_cast<std::size_t>(request.stream)];
    ops.push_back(op);
    return {request.stream, static_cast<uint32_t>(ops.size() - 1)};
}

void
ProgramWriter::Wait(const StepDependency& operation)
{
    int64_t& pending = m_pending[static_cast<std::size_t>(operation.stream)];
    pending = std::max<int64_t>(pending, operation.position);
    // Kernels that follow wait for it, those already written do not.
    m_isTail = false;
}

void
ProgramWriter::WaitForAll(std::vector<StepDependency>& operations)
{
    for (const StepDependency& operation : operations)
    {
        Wait(operation);
    }
    operations.clear();
}

void
ProgramWriter::SynchronizeHost()
{
    m_synchronizes = true;
    m_isTail = false;
}

void
ProgramWriter::AddPending(StepOp& op, StreamKind except)
{
    for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
    {
        const auto kind = static_cast<StreamKind>(stream);
        if (m_pending[stream] != NOTHING && kind != except)
        {
            AddDependency(op, kind, static_cast<uint32_t>(m_pending[stream]));
        }
    }
}

void
ProgramWriter::AddDependency(StepOp& op, StreamKind stream, uint32_t position)
{
    m_program.dependencies.push_back({stream, position});
    op.dependencyCount++;
}

bool
ProgramWriter::HasPending() const
{
    return std::any_of(
        m_pending.begin(), m_pending.end(), [](int64_t position) { return position != NOTHING; });
}

uint32_t
ProgramWriter::LastCompute() const
{
    return static_cast<uint32_t>(m_program.streams[COMPUTE].size() - 1);
}

} // namespace weir
