// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_UNIT_COLLECTIVES_H
#define WEIR_COMPUTE_MODEL_GRAPH_UNIT_COLLECTIVES_H

#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/stage-program.h"
#include "compute-model/plan/shard-units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * Collectives of units of sharded weights (shard-units.h): the gathers of weights before their use,
 * the reductions of gradients behind their backward pass.
 */
namespace weir
{

/**
 * Writes the gathering of sharded weights, a unit at a time and ahead of their use: under full
 * sharding as PyTorch's FSDP does (a gather behind what the compute stream has been given when the
 * unit before it is at work; copied to parameters on the compute stream), and the distributed
 * optimizer's overlapped gather, all of it from the step's start on. The experts of a layer are a
 * unit of their own beside it, gathered by those that hold the same experts (torchtitan shards them
 * over what expert parallelism leaves of the replicas).
 */
class UnitGathers
{
  public:
    /** @param uses see UnitUses; all but @p kernels and @p writer are copied. */
    UnitGathers(const StageSource& source,
                std::vector<UnitUse> uses,
                KernelTable& kernels,
                ProgramWriter& writer);

    /** Whether weights are gathered unit by unit under @p plan. */
    static bool AreIn(const ParallelPlan& plan);

    /** The next use begins: its weights are waited for, those of uses to come are asked for. */
    void Next();

  private:
    /** What one group distributes of every unit. */
    struct Share
    {
        GroupSlot slot{GroupSlot::Data};
        uint32_t ranks{1};
        uint32_t label{0};
        std::vector<Bytes> bytes{};            //!< by unit
        std::vector<SegmentSequence> copies{}; //!< by unit: from the gathered buffer to parameters
        std::vector<StepDependency> gathers{}; //!< by use, where it gathers
    };

    Share ShareOf(const std::vector<double>& parameters,
                  GroupSlot slot,
                  uint32_t ranks,
                  uint32_t label,
                  KernelTable& kernels) const;
    bool Gathers(const Share& share, std::size_t use) const;
    bool Gathers(std::size_t use) const;
    void Issue(std::size_t use);
    void IssueAhead();

    const ParallelPlan& m_plan;
    ProgramWriter& m_writer;
    std::vector<UnitUse> m_uses;
    std::vector<Share> m_shares; //!< of the dense weights, and of the experts'
    std::size_t m_now{0};        //!< the use that Next() begins
    std::size_t m_issued{0};     //!< uses before it have their gathers issued
};

/**
 * Writes what full sharding does with gradients, a unit at a time behind its backward pass, as
 * PyTorch's FSDP: copied (and cast) into a buffer, reduce-scattered in the group that shares a copy
 * out, with hybrid sharding all-reduced among such groups on a stream of its own; the compute
 * stream waits at the end of a backward pass. Passes that do not reduce add to whole gradients.
 */
class UnitReductions
{
  public:
    UnitReductions(const StageSource& source, KernelTable& kernels, ProgramWriter& writer);

    /** A backward pass begins, of model chunk @p chunk. */
    void BeginPass(uint32_t chunk);

    /** The gradients of @p unit (see UnitParameters) are whole. */
    void EndUnit(uint32_t unit);

    /** The backward pass is over. */
    void EndPass();

  private:
    /** Kernels over the gradients of one unit. */
    struct Copies
    {
        SegmentSequence toBuffer;   //!< of a reduction
        SegmentSequence accumulate; //!< onto whole gradients
        SegmentSequence addShard;   //!< the reduced part onto that of passes before
    };

    /** What one group distributes of every unit. */
    struct Share
    {
        GroupSlot slot{GroupSlot::Data};
        uint32_t ranks{1};
        uint32_t label{0};
        GroupSlot copiesSlot{GroupSlot::Replicas}; //!< who holds the same part of other copies
        std::vector<double> parameters{};          //!< by unit
        std::vector<Copies> copies{};              //!< by unit
    };

    Copies CopiesOf(double parameters, uint32_t ranks);
    void AddCopies(Share& share);
    void Reduce(uint32_t unit);
    void Reduce(const Share& share, uint32_t unit);

    const ParallelPlan& m_plan;
    KernelTable& m_kernels;
    ProgramWriter& m_writer;
    std::vector<Share> m_shares;     //!< of the dense gradients, and of the experts'
    std::vector<uint32_t> m_passes;  //!< by chunk: backward passes begun
    std::vector<uint32_t> m_reduced; //!< units of this pass
    std::vector<StepDependency> m_issued;
    uint32_t m_chunk{0};
    uint32_t m_replicasLabel;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_UNIT_COLLECTIVES_H
