// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_PLAN_RANK_GROUPS_H
#define WEIR_COMPUTE_MODEL_PLAN_RANK_GROUPS_H

#include "compute-model/plan/parallel-plan.h"
#include "fabric/ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Who communicates with whom. */
struct RankGroups
{
    std::vector<std::vector<Rank>>
        groups; //!< members in group-rank order; a send/recv pair is {sender, receiver}
    std::vector<std::vector<uint32_t>> rankGroups; //!< by Rank, then slot: index into groups
    std::vector<std::string> slotNames; //!< by slot: "tensor", "data", "pipeline-next", ...

    /** In rankGroups: the rank has no group in this slot. */
    static constexpr uint32_t NO_GROUP = 0xffffffff;
};

/** The groups a rank of a transformer step can be in: slots of RankGroups::rankGroups. */
enum class GroupSlot : uint16_t
{
    Tensor,          //!< ranks that share layers; none in a tensor grid
    Data,            //!< replicas of one shard, parts of a sequence counted as replicas, and the
                     //!< layers of a tensor grid
    Optimizer,       //!< whoever must agree on the gradient norm: one replica, or all with ZeRO;
                     //!< with postValidation those of one stage
    Embedding,       //!< first and last stage, which both hold a tied embedding
    SendForward,     //!< {this rank, next stage}
    ReceiveForward,  //!< {previous stage, this rank}
    SendBackward,    //!< {this rank, previous stage}
    ReceiveBackward, //!< {next stage, this rank}
    Context,         //!< ranks that share a sequence
    Expert,          //!< ranks that share the experts of a layer
    ExpertTensor,    //!< ranks that share each of their experts
    ExpertData,      //!< replicas of one shard of experts
    Shard,           //!< replicas that share one copy out, where those are not all replicas
    Replicas,        //!< ranks that hold the same part of such copies
    TensorRow,       //!< a row of a tensor grid, by column: ranks that share tokens
    TensorColumn,    //!< a column of a tensor grid, by row: ranks that share columns of weights
    ExpertShard,     //!< ranks that share one copy of their experts, where there are several
    ExpertCopies     //!< ranks that hold the same part of such copies
};

/**
 * Writes the groups of @p plan, and which of them each rank is in, into @p groups. Groups of a
 * single rank are left out. With the interleaved schedule the stages form a ring.
 *
 * Activations and gradients between the same two GPUs have separate groups, so that neither
 * waits behind the other.
 */
void WriteRankGroups(const Transformer& model, const ParallelPlan& plan, RankGroups& groups);

/** The pipeline stage of @p rank in the plan's rank order. */
uint32_t StageOf(const ParallelPlan& plan, uint32_t rank);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_RANK_GROUPS_H
