// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/post-validation.h"

namespace weir
{

namespace
{

// The squared norm and the count of values that are not finite, in fp32.
constexpr int64_t STATE_BYTES = 8;

} // namespace

PostValidation::PostValidation(const StageSource& source,
                               KernelTable& kernels,
                               ProgramWriter& writer)
    : m_source(source),
      m_kernels(kernels),
      m_writer(writer)
{
}

CommunicationRequest
PostValidation::Message(StepOpKind kind, StreamKind stream, GroupSlot slot)
{
    CommunicationRequest request;
    request.kind = kind;
    request.collective = CollectiveOp::Send;
    request.stream = stream;
    request.slot = slot;
    request.category = TimeCategory::Pipeline;
    request.bytes = Bytes(STATE_BYTES);
    request.label = m_kernels.Label(slot == GroupSlot::SendForward || //
                                            slot == GroupSlot::ReceiveForward
                                        ? "gradient norm so far"
                                        : "whole gradient norm");
    return request;
}

void
PostValidation::PassOn()
{
    if (m_source.stage > 0)
    {
        m_writer.Wait(m_writer.CommunicateFreely(
            Message(StepOpKind::Recv, StreamKind::PipelineRecv, GroupSlot::ReceiveForward)));
    }
    if (m_source.stage + 1 < m_source.plan.pipeline)
    {
        m_writer.Communicate(
            Message(StepOpKind::Send, StreamKind::PipelineSend, GroupSlot::SendForward));
    }
}

/** The backward passes' gradients come behind it on the same streams, so that they wait for it. */
void
PostValidation::PassBack()
{
    const CommunicationRequest send =
        Message(StepOpKind::Send, StreamKind::PipelineSendBackward, GroupSlot::SendBackward);
    if (m_source.stage + 1 == m_source.plan.pipeline)
    {
        m_writer.Communicate(send);
        return;
    }
    const StepDependency received = m_writer.CommunicateFreely(
        Message(StepOpKind::Recv, StreamKind::PipelineRecvBackward, GroupSlot::ReceiveBackward));
    if (m_source.stage > 0)
    {
        m_writer.CommunicateBehind(send, received);
    }
}

} // namespace weir
