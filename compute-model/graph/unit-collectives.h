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
 * Collectives of units of sharded weights (shard-units.h): all-gathers of weights before their use,
 * and reductions of gradients after their backward pass.
 */
namespace weir
{

/**
 * Writes the all-gathers of sharded weights, unit by unit and ahead of their use. Full sharding
 * follows PyTorch's FSDP: a gather is issued after what the compute stream has been given when the
 * previous unit starts, and its result is copied to the parameters on the compute stream. The
 * distributed optimizer's overlapped gathers are all issued at the start of the step. The experts
 * of a layer are a separate unit, gathered by the ranks that hold the same experts (torchtitan
 * shards them over the replicas that expert parallelism leaves).
 */
class UnitGathers
{
  public:
    /** @param uses see UnitUses. The plan of @p source and @p writer must outlive this object. */
    UnitGathers(const StageSource& source,
                std::vector<UnitUse> uses,
                KernelTable& kernels,
                ProgramWriter& writer);

    /** Whether weights are gathered unit by unit under @p plan. */
    static bool AreIn(const ParallelPlan& plan);

    /** Starts the next use: waits for its weights, and issues the gathers of later uses. */
    void Next();

  private:
    /** The parts of every unit that one group shards. */
    struct Share : RankWeights
    {
        uint32_t label{0};
        std::vector<SegmentSequence>
            copies{}; //!< by unit: copy from the gathered buffer to parameters
        std::vector<StepDependency> gathers{}; //!< by use, if it gathers
    };

    Bytes BytesOf(const Share& share, std::size_t use) const;
    bool Gathers(std::size_t use) const;
    void IssueUntil(std::size_t end);
    void IssueAhead();

    const ParallelPlan& m_plan;
    ProgramWriter& m_writer;
    std::vector<UnitUse> m_uses;
    std::vector<Share> m_shares; //!< of the dense weights, and of the experts'
    std::size_t m_now{0};        //!< next use that Next() starts
    std::size_t m_issued{0};     //!< the gathers of uses before this one are issued
};

/**
 * Writes the gradient reductions of full sharding, unit by unit after their backward pass, as in
 * PyTorch's FSDP. Gradients are copied (and cast) into a buffer and reduce-scattered in the
 * sharding group; with hybrid sharding they are then all-reduced between sharding groups on a
 * separate stream. The compute stream waits at the end of a backward pass. Passes that do not
 * reduce accumulate whole gradients.
 */
class UnitReductions
{
  public:
    UnitReductions(const StageSource& source, KernelTable& kernels, ProgramWriter& writer);

    /** Starts a backward pass of model chunk @p chunk. */
    void BeginPass(uint32_t chunk);

    /** The gradients of @p unit (see RankWeights) are complete. */
    void EndUnit(uint32_t unit);

    /** Ends the backward pass. */
    void EndPass();

  private:
    /** Kernels over the gradients of one unit. */
    struct Copies
    {
        SegmentSequence toBuffer;   //!< into the buffer of a reduction
        SegmentSequence accumulate; //!< onto whole gradients
        SegmentSequence addShard;   //!< the reduced part onto that of earlier passes
    };

    /** The parts of every unit that one group shards. */
    struct Share : RankWeights
    {
        uint32_t label{0};
        std::vector<Copies> copies{}; //!< by unit
    };

    Copies CopiesOf(double parameters, uint32_t ranks);
    void Reduce(const Share& share, uint32_t unit);

    const ParallelPlan& m_plan;
    KernelTable& m_kernels;
    ProgramWriter& m_writer;
    std::vector<Share> m_shares;                 //!< of the dense gradients, and of the experts'
    std::vector<uint32_t> m_passes;              //!< by chunk: backward passes begun
    std::vector<const SegmentSequence*> m_added; //!< Copies::addShard of this pass's reductions
    std::vector<StepDependency> m_issued;
    uint32_t m_chunk{0};
    uint32_t m_replicasLabel;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_UNIT_COLLECTIVES_H
