// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_LAYERS_STEP_STREAM_H
#define WEIR_COMPUTE_MODEL_LAYERS_STEP_STREAM_H

#include <cstddef>
#include <cstdint>

namespace weir
{

/** Traffic of an all-to-all with equal parts, in place of an index into StepGraph::traffics. */
constexpr uint16_t EVEN_PARTS = 0xffff;

/** Kind of an operation. */
enum class StepOpKind : uint8_t
{
    Compute,    //!< kernels with a known duration
    Collective, //!< starts when its last rank arrives
    Send,       //!< to the other rank of the two-rank group in slot `group`; matches its Recv
    Recv
};

/** The CUDA streams of a rank. Operations of one stream run in order, one at a time. */
enum class StreamKind : uint8_t
{
    Compute,
    TensorComm,
    DataComm,
    PipelineSend, //!< activations to the next stage
    PipelineRecv, //!< activations from the previous stage
    ReplicaComm,  //!< gradients between sharding groups, each of which holds a copy of the model
    PipelineSendBackward, //!< gradients to the previous stage
    PipelineRecvBackward, //!< gradients from the next stage
    TensorColumnComm //!< blocks along the columns of a tensor grid; those along rows use TensorComm
};

constexpr std::size_t STREAM_COUNT = 9;

/** Categories of a step's time. */
enum class TimeCategory : uint8_t
{
    Compute,  //!< the compute stream runs a kernel
    Tensor,   //!< the compute stream waits for tensor-parallel communication in progress (exposed)
    Pipeline, //!< ... for a pipeline transfer in progress
    Data,     //!< ... for data-parallel communication in progress
    Copy,     //!< ... for a host or device copy
    Bubble,   //!< the compute stream waits for work that has not been produced yet
    Launch,   //!< the compute stream waits for the CPU to launch a kernel
    Context,  //!< ... for keys and values of other parts of a sequence
    Expert,   //!< ... for tokens in flight to or from experts
    Embedding //!< ... for vectors in flight to or from embedding tables
};

constexpr std::size_t TIME_CATEGORY_COUNT = 10;

const char* ToString(StepOpKind kind);
const char* ToString(StreamKind stream);
const char* ToString(TimeCategory category);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_LAYERS_STEP_STREAM_H
