// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-groups.h"

#include <utility>

namespace weir
{

namespace
{

/** Adds groups and enters them into their ranks' slots. */
class GroupWriter
{
  public:
    GroupWriter(const ParallelPlan& plan, RankGroups& groups)
        : m_groups(groups)
    {
        m_groups.slotNames = {"tensor",
                              "data",
                              "optimizer",
                              "embedding",
                              "send-forward",
                              "receive-forward",
                              "send-backward",
                              "receive-backward",
                              "context",
                              "expert",
                              "expert-tensor",
                              "expert-data",
                              "shard",
                              "replicas",
                              "tensor-row",
                              "tensor-column",
                              "expert-shard",
                              "expert-copies"};
        m_groups.rankGroups.assign(
            plan.Ranks(), std::vector<uint32_t>(m_groups.slotNames.size(), RankGroups::NO_GROUP));
    }

    void AddGroup(GroupSlot slot, std::vector<Rank> members)
    {
        if (members.size() < 2)
        {
            return;
        }
        for (Rank member : members)
        {
            Enter(member, slot);
        }
        m_groups.groups.push_back(std::move(members));
    }

    void AddGroups(GroupSlot slot, std::vector<std::vector<Rank>> groups)
    {
        for (auto& members : groups)
        {
            AddGroup(slot, std::move(members));
        }
    }

    void AddPair(Rank sender, GroupSlot send, Rank receiver, GroupSlot receive)
    {
        Enter(sender, send);
        Enter(receiver, receive);
        m_groups.groups.push_back({sender, receiver});
    }

  private:
    void Enter(Rank rank, GroupSlot slot)
    {
        m_groups.rankGroups[rank.Index()][static_cast<std::size_t>(slot)] =
            static_cast<uint32_t>(m_groups.groups.size());
    }

    RankGroups& m_groups;
};

uint32_t
RanksOfStage(const ParallelPlan& plan)
{
    return plan.tensor * plan.TensorGroups();
}

/**
 * Groups of @p size ranks of a stage that are @p stride apart, in the order of their ranks; none of
 * a single rank.
 */
std::vector<std::vector<Rank>>
SpacedGroups(const ParallelPlan& plan, uint32_t size, uint32_t stride)
{
    std::vector<std::vector<Rank>> groups;
    for (uint32_t first = 0; size > 1 && first < plan.Ranks(); first++)
    {
        if (first % RanksOfStage(plan) / stride % size == 0)
        {
            std::vector<Rank>& members = groups.emplace_back();
            for (uint32_t i = 0; i < size; i++)
            {
                members.push_back(Rank(first + i * stride));
            }
        }
    }
    return groups;
}

/** Adds the row and column groups of all layers of every tensor grid. */
void
AddGridGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    const uint32_t side = plan.grid.side;
    const uint32_t lines = plan.TensorGroups() * plan.pipeline * plan.grid.depth * side;
    for (uint32_t line = 0; line < lines; line++)
    {
        const uint32_t layer = line / side;
        std::vector<Rank> row;
        std::vector<Rank> column;
        for (uint32_t i = 0; i < side; i++)
        {
            row.push_back(Rank(line * side + i));
            column.push_back(Rank(layer * side * side + i * side + line % side));
        }
        writer.AddGroup(GroupSlot::TensorRow, std::move(row));
        writer.AddGroup(GroupSlot::TensorColumn, std::move(column));
    }
}

/**
 * Adds the groups of hybrid sharding. Neighboring @p replicas form a sharding group; ranks with the
 * same position in different groups hold the same shard.
 */
void
AddShardGroups(const ParallelPlan& plan, const std::vector<Rank>& replicas, GroupWriter& writer)
{
    const std::size_t size = plan.ShardRanks();
    const std::size_t copies = replicas.size() / size;
    if (plan.Sharded() == ShardedState::None || copies == 1)
    {
        return;
    }
    for (std::size_t copy = 0; copy < copies; copy++)
    {
        const auto first = replicas.begin() + static_cast<std::ptrdiff_t>(copy * size);
        writer.AddGroup(GroupSlot::Shard, {first, first + static_cast<std::ptrdiff_t>(size)});
    }
    for (std::size_t part = 0; part < size; part++)
    {
        std::vector<Rank> members;
        for (std::size_t copy = 0; copy < copies; copy++)
        {
            members.push_back(replicas[copy * size + part]);
        }
        writer.AddGroup(GroupSlot::Replicas, std::move(members));
    }
}

void
AddDataGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    for (auto& members : SpacedGroups(plan, plan.DenseReplicas(), plan.WeightRanks()))
    {
        AddShardGroups(plan, members, writer);
        writer.AddGroup(GroupSlot::Data, std::move(members));
    }
}

void
AddOptimizerGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    const uint32_t copies = plan.ShardCopies();
    std::vector<std::vector<Rank>> groups(plan.OverlapsSteps() ? copies * plan.pipeline : copies);
    for (uint32_t rank = 0; rank < plan.Ranks(); rank++)
    {
        const uint32_t replica = rank % RanksOfStage(plan) / plan.WeightRanks();
        const uint32_t copy = replica / plan.ShardRanks();
        groups[plan.OverlapsSteps() ? copy + copies * StageOf(plan, rank) : copy].push_back(
            Rank(rank));
    }
    writer.AddGroups(GroupSlot::Optimizer, std::move(groups));
}

void
AddStageGroups(const ParallelPlan& plan, bool tied, GroupWriter& writer)
{
    const bool isRing = plan.schedule == PipelineScheduleKind::Interleaved;
    for (uint32_t first = 0; first < RanksOfStage(plan); first++)
    {
        const auto at = [&](uint32_t stage) { return Rank(first + RanksOfStage(plan) * stage); };
        for (uint32_t p = 0; p + (isRing ? 0 : 1) < plan.pipeline; p++)
        {
            const Rank here = at(p);
            const Rank next = at((p + 1) % plan.pipeline);
            writer.AddPair(here, GroupSlot::SendForward, next, GroupSlot::ReceiveForward);
            writer.AddPair(next, GroupSlot::SendBackward, here, GroupSlot::ReceiveBackward);
        }
        if (tied)
        {
            writer.AddGroup(GroupSlot::Embedding, {at(0), at(plan.pipeline - 1)});
        }
    }
}

void
AddExpertGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    const auto add = [&](GroupSlot slot, uint32_t size, uint32_t stride) {
        writer.AddGroups(slot, SpacedGroups(plan, size, stride));
    };
    const uint32_t tensor = plan.ExpertTensor();
    const uint32_t expertRanks = tensor * plan.expert;
    add(GroupSlot::ExpertTensor, tensor, 1);
    add(GroupSlot::Expert, plan.expert, tensor);
    add(GroupSlot::ExpertData, plan.ExpertReplicas(), expertRanks);
    if (plan.ShardCopies() > 1 && plan.Sharded() != ShardedState::None)
    {
        const uint32_t shard = plan.ExpertShardRanks();
        add(GroupSlot::ExpertShard, shard, expertRanks);
        add(GroupSlot::ExpertCopies, plan.ShardCopies(), expertRanks * shard);
    }
}

} // namespace

void
WriteRankGroups(const Transformer& model, const ParallelPlan& plan, RankGroups& groups)
{
    GroupWriter writer(plan, groups);
    if (plan.HasGrid())
    {
        AddGridGroups(plan, writer);
    }
    else
    {
        writer.AddGroups(GroupSlot::Tensor, SpacedGroups(plan, plan.tensor, 1));
    }
    AddDataGroups(plan, writer);
    AddOptimizerGroups(plan, writer);
    writer.AddGroups(GroupSlot::Context, SpacedGroups(plan, plan.context, plan.tensor));
    if (model.HasExperts())
    {
        AddExpertGroups(plan, writer);
    }
    if (plan.pipeline > 1)
    {
        AddStageGroups(plan, model.tiedEmbeddings, writer);
    }
}

uint32_t
StageOf(const ParallelPlan& plan, uint32_t rank)
{
    return rank / RanksOfStage(plan);
}

} // namespace weir
