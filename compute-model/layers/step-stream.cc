// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-stream.h"

#include "fabric/enum-names.h"

namespace weir
{

const char*
ToString(StepOpKind kind)
{
    static constexpr EnumName<StepOpKind> NAMES[]{
        {StepOpKind::Compute, "compute"},
        {StepOpKind::Collective, "collective"},
        {StepOpKind::Send, "send"},
        {StepOpKind::Recv, "recv"},
    };
    return NameIn(NAMES, kind);
}

const char*
ToString(StreamKind stream)
{
    static constexpr EnumName<StreamKind> NAMES[]{
        {StreamKind::Compute, "compute"},
        {StreamKind::TensorComm, "tensor-comm"},
        {StreamKind::DataComm, "data-comm"},
        {StreamKind::PipelineSend, "pipeline-send"},
        {StreamKind::PipelineRecv, "pipeline-recv"},
        {StreamKind::ReplicaComm, "replica-comm"},
        {StreamKind::PipelineSendBackward, "pipeline-send-backward"},
        {StreamKind::PipelineRecvBackward, "pipeline-recv-backward"},
        {StreamKind::TensorColumnComm, "tensor-column-comm"},
    };
    return NameIn(NAMES, stream);
}

const char*
ToString(TimeCategory category)
{
    static constexpr EnumName<TimeCategory> NAMES[]{
        {TimeCategory::Compute, "compute"},
        {TimeCategory::Tensor, "tensor"},
        {TimeCategory::Pipeline, "pipeline"},
        {TimeCategory::Data, "data"},
        {TimeCategory::Copy, "copy"},
        {TimeCategory::Launch, "launch"},
        {TimeCategory::Bubble, "bubble"},
        {TimeCategory::Context, "context"},
        {TimeCategory::Expert, "expert"},
        {TimeCategory::Embedding, "embedding"},
    };
    return NameIn(NAMES, category);
}

} // namespace weir
