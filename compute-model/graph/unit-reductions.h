// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_UNIT_REDUCTIONS_H
#define WEIR_COMPUTE_MODEL_GRAPH_UNIT_REDUCTIONS_H

#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/stage-program.h"

#include <cstdint>
#include <vector>

namespace weir
{

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

#endif // WEIR_COMPUTE_MODEL_GRAPH_UNIT_REDUCTIONS_H
