// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-groups.h"

#include <utility>

namespace weir
{

namespace
{

/** Coordinates of a rank in its plan. */
struct Coordinates
{
    uint32_t tensor{0};
    uint32_t data{0}; //!< context + C * replica
    uint32_t pipeline{0};
};

/** Adds groups and enters them into their ranks' slots. */
class GroupWriter
{
  public:
    GroupWriter(const ParallelPlan& plan, RankGroups& groups)
        : m_plan(plan),
          m_groups(groups)
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

    Rank At(const Coordinates& coordinates) const
    {
        return Rank(coordinates.tensor +
                    m_plan.tensor *
                        (coordinates.data + m_plan.TensorGroups() * coordinates.pipeline));
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

    const ParallelPlan& m_plan;
    RankGroups& m_groups;
};

void
AddTensorGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t d = 0; d < plan.TensorGroups(); d++)
        {
            std::vector<Rank> members;
            for (uint32_t t = 0; t < plan.tensor; t++)
            {
                members.push_back(writer.At({t, d, p}));
            }
            writer.AddGroup(GroupSlot::Tensor, std::move(members));
        }
    }
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
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t t = 0; t < plan.WeightRanks(); t++)
        {
            std::vector<Rank> members;
            for (uint32_t replica = 0; replica < plan.DenseReplicas(); replica++)
            {
                const uint32_t layer = replica % plan.grid.depth;
                const uint32_t d = replica / plan.grid.depth;
                members.push_back(writer.At({t + plan.WeightRanks() * layer, d, p}));
            }
            AddShardGroups(plan, members, writer);
            writer.AddGroup(GroupSlot::Data, std::move(members));
        }
    }
}

void
AddOptimizerGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    const uint32_t copies = plan.ShardCopies();
    std::vector<std::vector<Rank>> groups(plan.OverlapsSteps() ? copies * plan.pipeline : copies);
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t d = 0; d < plan.TensorGroups(); d++)
        {
            for (uint32_t t = 0; t < plan.tensor; t++)
            {
                const uint32_t replica = t / plan.WeightRanks() + plan.grid.depth * d;
                const uint32_t copy = replica / plan.ShardRanks();
                groups[plan.OverlapsSteps() ? copy + copies * p : copy].push_back(
                    writer.At({t, d, p}));
            }
        }
    }
    for (auto& members : groups)
    {
        writer.AddGroup(GroupSlot::Optimizer, std::move(members));
    }
}

void
AddStageGroups(const ParallelPlan& plan, bool tied, GroupWriter& writer)
{
    const bool isRing = plan.schedule == PipelineScheduleKind::Interleaved;
    for (uint32_t d = 0; d < plan.TensorGroups(); d++)
    {
        for (uint32_t t = 0; t < plan.tensor; t++)
        {
            for (uint32_t p = 0; p + (isRing ? 0 : 1) < plan.pipeline; p++)
            {
                const Rank here = writer.At({t, d, p});
                const Rank next = writer.At({t, d, (p + 1) % plan.pipeline});
                writer.AddPair(here, GroupSlot::SendForward, next, GroupSlot::ReceiveForward);
                writer.AddPair(next, GroupSlot::SendBackward, here, GroupSlot::ReceiveBackward);
            }
            if (tied)
            {
                writer.AddGroup(GroupSlot::Embedding,
                                {writer.At({t, d, 0}), writer.At({t, d, plan.pipeline - 1})});
            }
        }
    }
}

void
AddContextGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t d = 0; d < plan.data; d++)
        {
            for (uint32_t t = 0; t < plan.tensor; t++)
            {
                std::vector<Rank> members;
                for (uint32_t c = 0; c < plan.context; c++)
                {
                    members.push_back(writer.At({t, c + plan.context * d, p}));
                }
                writer.AddGroup(GroupSlot::Context, std::move(members));
            }
        }
    }
}

/** One kind of expert group, whose members are evenly spaced. */
struct ExpertStride
{
    GroupSlot slot;
    uint32_t size;   //!< ranks of a group
    uint32_t stride; //!< between its members
};

/** Adds the groups of experts, whose members are evenly spaced within a stage. */
void
AddExpertGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    const uint32_t tensor = plan.ExpertTensor();
    const uint32_t expertRanks = tensor * plan.expert;
    const uint32_t stageRanks = plan.tensor * plan.TensorGroups();
    std::vector<ExpertStride> kinds = {{GroupSlot::ExpertTensor, tensor, 1},
                                       {GroupSlot::Expert, plan.expert, tensor},
                                       {GroupSlot::ExpertData, plan.ExpertReplicas(), expertRanks}};
    if (plan.ShardCopies() > 1 && plan.Sharded() != ShardedState::None)
    {
        const uint32_t shard = plan.ExpertShardRanks();
        kinds.push_back({GroupSlot::ExpertShard, shard, expertRanks});
        kinds.push_back({GroupSlot::ExpertCopies, plan.ShardCopies(), expertRanks * shard});
    }
    for (const ExpertStride& kind : kinds)
    {
        for (uint32_t first = 0; first < plan.Ranks(); first++)
        {
            if (first % stageRanks / kind.stride % kind.size != 0)
            {
                continue;
            }
            std::vector<Rank> members;
            for (uint32_t i = 0; i < kind.size; i++)
            {
                members.push_back(Rank(first + i * kind.stride));
            }
            writer.AddGroup(kind.slot, std::move(members));
        }
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
        AddTensorGroups(plan, writer);
    }
    AddDataGroups(plan, writer);
    AddOptimizerGroups(plan, writer);
    AddContextGroups(plan, writer);
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
    return rank / (plan.tensor * plan.TensorGroups());
}

} // namespace weir
