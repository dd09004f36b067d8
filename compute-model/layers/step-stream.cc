// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/step-stream.h"

#include <stdexcept>

namespace weir
{

const char*
ToString(StreamKind stream)
{
    switch (stream)
    {
    case StreamKind::Compute:
        return "compute";
    case StreamKind::TensorComm:
        return "tensor-comm";
    case StreamKind::DataComm:
        return "data-comm";
    case StreamKind::PipelineSend:
        return "pipeline-send";
    case StreamKind::PipelineRecv:
        return "pipeline-recv";
    case StreamKind::ReplicaComm:
        return "replica-comm";
    case StreamKind::PipelineSendBackward:
        return "pipeline-send-backward";
    case StreamKind::PipelineRecvBackward:
        return "pipeline-recv-backward";
    case StreamKind::TensorColumnComm:
        return "tensor-column-comm";
    }
    throw std::logic_error("ToString: no such StreamKind");
}

const char*
ToString(TimeCategory category)
{
    switch (category)
    {
    case TimeCategory::Compute:
        return "compute";
    case TimeCategory::Tensor:
        return "tensor";
    case TimeCategory::Pipeline:
        return "pipeline";
    case TimeCategory::Data:
        return "data";
    case TimeCategory::Copy:
        return "copy";
    case TimeCategory::Launch:
        return "launch";
    case TimeCategory::Bubble:
        return "bubble";
    case TimeCategory::Context:
        return "context";
    case TimeCategory::Expert:
        return "expert";
    case TimeCategory::Embedding:
        return "embedding";
    }
    throw std::logic_error("ToString: no such TimeCategory");
}

} // namespace weir
