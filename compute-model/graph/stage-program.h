// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STAGE_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_STAGE_PROGRAM_H

#include "compute-model/graph/step-program.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-segments.h"

#include <cstdint>

namespace weir
{

/** Inputs of one stage's program. */
struct StageSource
{
    const Transformer& model;
    const ParallelPlan& plan;
    const StepSegments& segments;
    uint32_t stage{0};
};

/** One side of the transfers in one direction between neighboring stages. */
struct StageTransfer
{
    StepOpKind kind;
    StreamKind stream;
    GroupSlot slot;

    CommunicationRequest Request(Bytes bytes, uint32_t label) const
    {
        return {stream, kind, CollectiveOp::Send, TimeCategory::Pipeline, slot, bytes, label};
    }
};

constexpr StageTransfer SEND_FORWARD{
    StepOpKind::Send, StreamKind::PipelineSend, GroupSlot::SendForward};
constexpr StageTransfer RECEIVE_FORWARD{
    StepOpKind::Recv, StreamKind::PipelineRecv, GroupSlot::ReceiveForward};
constexpr StageTransfer SEND_BACKWARD{
    StepOpKind::Send, StreamKind::PipelineSendBackward, GroupSlot::SendBackward};
constexpr StageTransfer RECEIVE_BACKWARD{
    StepOpKind::Recv, StreamKind::PipelineRecvBackward, GroupSlot::ReceiveBackward};

/**
 * The program of all ranks of one pipeline stage: the passes and exchanges of its schedule, the
 * gradient reduction, and the optimizer.
 */
StepProgram BuildStageProgram(const StageSource& source, KernelTable& kernels);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STAGE_PROGRAM_H
