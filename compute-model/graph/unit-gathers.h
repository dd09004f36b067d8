// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_GRAPH_UNIT_GATHERS_H
#define WEIR_COMPUTE_MODEL_GRAPH_UNIT_GATHERS_H

#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/stage-program.h"
#include "compute-model/plan/shard-units.h"

#include <cstddef>
#include <vector>

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

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_GRAPH_UNIT_GATHERS_H
