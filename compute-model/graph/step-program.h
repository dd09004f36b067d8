// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STEP_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_STEP_PROGRAM_H

#include "collectives/collective.h"
#include "compute-model/kernels/overlap-slowdown.h"
#include "fabric/ids.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * A training step as data: per role one immutable program of operations on streams, and per rank
 * only who its peers are. Builders (from a model and a plan, from an imported trace) make it, the
 * StepExecutor runs it.
 */
namespace weir
{

/** The CUDA streams of a rank. Operations of one stream run in order, one at a time. */
enum class StreamKind : uint8_t
{
    Compute,
    TensorComm,
    DataComm,
    PipelineSend,         //!< activations to the next stage
    PipelineRecv,         //!< activations from the previous stage
    ReplicaComm,          //!< gradients between groups that share one copy of the model out
    PipelineSendBackward, //!< gradients to the previous stage
    PipelineRecvBackward, //!< gradients from the next stage
    TensorColumnComm      //!< blocks along the columns of a tensor grid; TensorComm has its rows
};

constexpr std::size_t STREAM_COUNT = 9;

/** Where the time of a step is booked. */
enum class TimeCategory : uint8_t
{
    Compute,  //!< the compute stream runs a kernel
    Tensor,   //!< the compute stream waits for tensor-parallel communication under way (exposed)
    Pipeline, //!< ... for a pipeline transfer under way
    Data,     //!< ... for data-parallel communication under way
    Copy,     //!< ... for a host or device copy
    Bubble,   //!< the compute stream waits for work that has not been produced yet
    Launch,   //!< the compute stream waits for the CPU to launch a kernel
    Context,  //!< ... for keys and values of other parts of a sequence
    Expert,   //!< ... for tokens on their way to or from experts
    Embedding //!< ... for vectors on their way to or from embedding tables
};

constexpr std::size_t TIME_CATEGORY_COUNT = 10;

const char* ToString(StreamKind stream);
const char* ToString(TimeCategory category);

/** What an operation does. */
enum class StepOpKind : uint8_t
{
    Compute,    //!< kernels for a known time
    Collective, //!< with the group in slot `group`; starts when its last rank arrives
    Send,       //!< to the other rank of the two-rank group in slot `group`; meets its Recv
    Recv
};

/** "Position `position` (from 0) of stream `stream` of this rank must have ended." */
struct StepDependency
{
    StreamKind stream{StreamKind::Compute};
    uint32_t position{0};
};

/** One operation of a program. */
struct StepOp
{
    StepOpKind kind{StepOpKind::Compute};
    CollectiveOp collective{CollectiveOp::AllReduce}; //!< for Collective
    TimeCategory category{TimeCategory::Compute};     //!< how waiting for it is booked
    uint16_t group{0}; //!< slot into StepGraph::rankGroups for communication
    uint32_t label{0}; //!< into StepGraph::labels, e.g. "forward layer attention"
    uint32_t microBatch{0};
    uint32_t layer{0};           //!< first global layer it works on; NO_LAYER when none
    Time duration;               //!< for Compute, kernels launched well ahead
    Time launch;                 //!< CPU time from the last synchronization to its first launch
    Time launchBound;            //!< for Compute: from `launch` to its end when the CPU is late;
                                 //!< zero: the CPU never is
    uint32_t epoch{0};           //!< synchronizations of CPU and GPU before it in its program
    bool synchronizes{false};    //!< for Compute: the CPU waits for the GPU before it launches this
    Bytes bytes;                 //!< for communication: nccl-tests' size
    uint16_t traffic{EVEN};      //!< for an all-to-all of unequal parts: into StepGraph::traffics
    uint32_t firstDependency{0}; //!< into StepProgram::dependencies
    uint16_t dependencyCount{0};
    uint32_t firstKernel{0}; //!< into StepGraph::kernels: what it is made of (for display)
    uint16_t kernelCount{0};
    uint16_t sms{
        0}; //!< for communication: multiprocessors that it holds on each rank, one a channel
    uint16_t memoryPerMille{0}; //!< for communication: of the HBM rate that its traffic takes
    uint16_t root{0};           //!< for a broadcast or reduce: group rank of its root

    static constexpr uint32_t NO_LAYER = 0xffffffff;
    static constexpr uint16_t EVEN = 0xffff; //!< every rank gives every rank as much
};

/** A kernel inside a compute operation, kept for display, export and validation. */
struct KernelRecord
{
    uint32_t name{0}; //!< into StepGraph::labels
    Flops flops;
    Bytes bytes; //!< memory traffic, each operand once
    Time duration;
    uint8_t provenance{0};           //!< an EstimateProvenance
    OverlapTraits overlap;           //!< what communication beside it can take
    std::array<uint32_t, 4> shape{}; //!< m, n, k, batch for a GEMM; rows, columns otherwise
};

/** What every rank of one role does in one step. */
struct StepProgram
{
    std::array<std::vector<StepOp>, STREAM_COUNT> streams; //!< by StreamKind
    std::vector<StepDependency> dependencies;              //!< of all operations
};

/** Who gives how much to whom in an all-to-all: one row per sender, by group rank. */
using TrafficParts = std::vector<std::vector<Bytes>>;

/** A whole step: programs, and for every rank its program and its groups. */
struct StepGraph
{
    std::vector<StepProgram> programs;
    std::vector<uint32_t> rankProgram; //!< by Rank
    std::vector<std::vector<Rank>>
        groups; //!< members in group-rank order; a send/recv pair is {sender, receiver}
    std::vector<std::vector<uint32_t>> rankGroups; //!< by Rank, then slot: index into groups
    std::vector<std::string> slotNames; //!< by slot: "tensor", "data", "pipeline-next", ...
    std::vector<std::string> labels;    //!< names shared by operations and kernels
    std::vector<KernelRecord> kernels;
    std::vector<uint32_t> programStage; //!< by program: its pipeline stage, for the breakdown
    std::vector<TrafficParts> traffics; //!< of all-to-alls with unequal parts

    /** In rankGroups: the rank has no group in this slot. */
    static constexpr uint32_t NO_GROUP = 0xffffffff;

    std::size_t RankCount() const
    {
        return rankProgram.size();
    }
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STEP_PROGRAM_H
