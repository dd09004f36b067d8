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

/** Communication groups of ranks. */
struct RankGroups
{
    std::vector<std::vector<Rank>>
        groups; //!< members in group-rank order; a send/recv pair is {sender, receiver}
    std::vector<std::vector<uint32_t>> rankGroups; //!< by Rank, then slot: index into groups
    std::vector<std::string> slotNames; //!< by slot: "tensor", "data", "send-forward", ...

    /** Entry of rankGroups for a slot in which the rank has no group. */
    static constexpr uint32_t NO_GROUP = 0xffffffff;
};

/** The groups a rank of a transformer step can be in: slots of RankGroups::rankGroups. */
enum class GroupSlot : uint16_t
{
    Tensor,    //!< ranks that share layers in one-dimensional tensor parallelism
    Data,      //!< replicas of one shard; parts of a sequence and layers of a tensor grid count as
               //!< replicas
    Optimizer, //!< ranks that must agree on the gradient norm: one replica, or a sharding group's
               //!< replicas with ZeRO; only those of one stage with postValidation
    Embedding, //!< first and last stage, which both hold a tied embedding
    SendForward,     //!< {this rank, next stage}
    ReceiveForward,  //!< {previous stage, this rank}
    SendBackward,    //!< {this rank, previous stage}
    ReceiveBackward, //!< {next stage, this rank}
    Context,         //!< ranks that share a sequence
    Expert,          //!< ranks that share the experts of a layer
    ExpertTensor,    //!< ranks that share each of their experts by tensor parallelism
    ExpertData,      //!< replicas of one shard of experts
    Shard,           //!< a sharding group, where it is not all replicas (hybrid sharding)
    Replicas,        //!< ranks of different sharding groups that hold the same shard
    TensorRow,       //!< a row of a tensor grid, ordered by column: ranks that share tokens
    TensorColumn,    //!< a column of a tensor grid, ordered by row: ranks that share columns of
                     //!< weights
    ExpertShard,     //!< a sharding group of experts, where there are several
    ExpertCopies     //!< ranks of different such groups that hold the same shard
};

/**
 * Writes the groups of @p plan, and the groups of each rank, into @p groups. Groups of a single
 * rank are omitted. With the interleaved schedule the stages form a ring.
 *
 * Activations and gradients between the same two GPUs have separate groups, so that neither waits
 * for the other.
 */
void WriteRankGroups(const Transformer& model, const ParallelPlan& plan, RankGroups& groups);

/** The pipeline stage of @p rank in the plan's rank order. */
uint32_t StageOf(const ParallelPlan& plan, uint32_t rank);

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_PLAN_RANK_GROUPS_H
