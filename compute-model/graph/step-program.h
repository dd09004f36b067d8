// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_STEP_PROGRAM_H
#define WEIR_COMPUTE_MODEL_GRAPH_STEP_PROGRAM_H

#include "collectives/collective.h"
#include "compute-model/layers/kernel-table.h"
#include "compute-model/layers/step-stream.h"
#include "compute-model/plan/rank-groups.h"
#include "fabric/ids.h"
#include "fabric/units.h"

#include <array>
#include <cstdint>
#include <vector>

/**
 * @file
 * A training step as data: one immutable program of operations on streams per role, and for each
 * rank only its groups. Builders create it from a model and a plan, or from an imported trace; the
 * StepExecutor executes it.
 */
namespace weir
{

/**
 * The operation at position `position` (from 0) of stream `stream` of this rank must have ended.
 */
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
    TimeCategory category{TimeCategory::Compute};     //!< category of the time spent waiting for it
    uint16_t group{0}; //!< slot into StepGraph::rankGroups for communication
    uint32_t label{0}; //!< index into StepGraph::labels, e.g. "forward layer attention"
    uint32_t microBatch{0};
    uint32_t layer{0}; //!< first global layer it belongs to; NO_LAYER when none
    Time duration;     //!< for Compute, with kernels launched well ahead
    Time launch;       //!< CPU time from the last synchronization to its first launch
    Time launchBound;  //!< for Compute: from `launch` to its end if launches are the bottleneck;
                       //!< zero: they never are
    uint32_t epoch{0}; //!< number of synchronizations of CPU and GPU before it in its program
    bool synchronizes{false}; //!< for Compute: the CPU waits for the GPU before it launches this
    Bytes bytes;              //!< for communication: nccl-tests' size
    uint16_t traffic{EVEN}; //!< for an all-to-all of unequal parts: index into StepGraph::traffics
    uint32_t firstDependency{0}; //!< index into StepProgram::dependencies
    uint16_t dependencyCount{0};
    uint32_t firstKernel{0}; //!< index into StepGraph::kernels: the kernels of which it consists
    uint16_t kernelCount{0};
    uint16_t root{0};         //!< for a broadcast or reduce: group rank of its root
    uint32_t call{0};         //!< for communication: index into the StepGraph::loads of its group
    bool byCopyEngine{false}; //!< for communication: it occupies no SMs

    static constexpr uint32_t NO_LAYER = 0xffffffff;
    static constexpr uint16_t EVEN = EVEN_PARTS; //!< all ranks exchange equal parts
};

/** GPU resources that a communication occupies on each rank of its group while it runs. */
struct CallLoad
{
    uint16_t sms{0};            //!< SMs, one per channel
    uint16_t memoryPerMille{0}; //!< share of the HBM rate that its traffic takes, in 1/1000
};

/** Operations of every rank of one role in one step. */
struct StepProgram
{
    std::array<std::vector<StepOp>, STREAM_COUNT> streams; //!< by StreamKind
    std::vector<StepDependency> dependencies;              //!< of all operations
};

/** Bytes of an all-to-all: one matrix row per sender, one column per receiver, by group rank. */
using TrafficParts = std::vector<std::vector<Bytes>>;

/** A whole step: programs, their kernels, and for every rank its program and its groups. */
struct StepGraph : KernelRecords, RankGroups
{
    std::vector<StepProgram> programs;
    std::vector<uint32_t> rankProgram;  //!< by Rank
    std::vector<uint32_t> programStage; //!< by program: its pipeline stage, for the breakdown
    std::vector<TrafficParts> traffics; //!< of all-to-alls with unequal parts
    std::vector<std::vector<CallLoad>>
        loads; //!< by group, then StepOp::call; empty: communication occupies nothing

    std::size_t RankCount() const
    {
        return rankProgram.size();
    }

    /** What @p communication occupies in group @p group; no SMs with copy engines. */
    CallLoad LoadOf(uint32_t group, const StepOp& communication) const
    {
        CallLoad load = loads.empty() ? CallLoad() : loads[group][communication.call];
        load.sms = communication.byCopyEngine ? uint16_t{0} : load.sms;
        return load;
    }
};

/**
 * Checks that @p graph can be executed: indices are in range, dependencies refer to existing
 * operations, every rank is in the groups it uses, senders and receivers have their positions in
 * their pairs, and all members of a group issue the same communications on it, in the same order
 * where each member uses one stream for them. The order between streams is checked as they run
 * (GroupRendezvous).
 *
 * Programs are checked once, not once per rank: O(operations of all programs + sum of group sizes).
 * @throws std::invalid_argument naming the rank (or program) and the operation.
 */
void CheckStepGraph(const StepGraph& graph);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_STEP_PROGRAM_H
