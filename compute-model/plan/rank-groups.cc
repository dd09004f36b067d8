// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-groups.h"

#include <utility>

namespace weir
{

namespace
{

/** A rank's coordinates. */
struct Place
{
    uint32_t tensor{0};
    uint32_t data{0};
    uint32_t pipeline{0};
};

/** Adds groups to a graph and enters them into their ranks' slots. */
class GroupWriter
{
  public:
    GroupWriter(const ParallelPlan& plan, StepGraph& graph)
        : m_plan(plan),
          m_graph(graph)
    {
        m_graph.slotNames = {"tensor",
                             "data",
                             "optimizer",
                             "embedding",
                             "send-forward",
                             "receive-forward",
                             "send-backward",
                             "receive-backward"};
        m_graph.rankGroups.assign(
            plan.Ranks(), std::vector<uint32_t>(m_graph.slotNames.size(), StepGraph::NO_GROUP));
    }

    Rank At(const Place& place) const
    {
        return Rank(place.tensor + m_plan.tensor * (place.data + m_plan.data * place.pipeline));
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
        m_graph.groups.push_back(std::move(members));
    }

    void AddPair(Rank sender, GroupSlot send, Rank receiver, GroupSlot receive)
    {
        Enter(sender, send);
        Enter(receiver, receive);
        m_graph.groups.push_back({sender, receiver});
    }

  private:
    void Enter(Rank rank, GroupSlot slot)
    {
        m_graph.rankGroups[rank.Index()][static_cast<std::size_t>(slot)] =
            static_cast<uint32_t>(m_graph.groups.size());
    }

    const ParallelPlan& m_plan;
    StepGraph& m_graph;
};

void
AddTensorGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t d = 0; d < plan.data; d++)
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

void
AddDataGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t t = 0; t < plan.tensor; t++)
        {
            std::vector<Rank> members;
            for (uint32_t d = 0; d < plan.data; d++)
            {
                members.push_back(writer.At({t, d, p}));
            }
            writer.AddGroup(GroupSlot::Data, std::move(members));
        }
    }
}

void
AddOptimizerGroups(const ParallelPlan& plan, GroupWriter& writer)
{
    std::vector<std::vector<Rank>> groups(plan.distributedOptimizer ? 1 : plan.data);
    for (uint32_t p = 0; p < plan.pipeline; p++)
    {
        for (uint32_t d = 0; d < plan.data; d++)
        {
            for (uint32_t t = 0; t < plan.tensor; t++)
            {
                groups[d % groups.size()].push_back(writer.At({t, d, p}));
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
    for (uint32_t d = 0; d < plan.data; d++)
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

} // namespace

void
WriteRankGroups(const Transformer& model, const ParallelPlan& plan, StepGraph& graph)
{
    GroupWriter writer(plan, graph);
    AddTensorGroups(plan, writer);
    AddDataGroups(plan, writer);
    AddOptimizerGroups(plan, writer);
    if (plan.pipeline > 1)
    {
        AddStageGroups(plan, model.tiedEmbeddings, writer);
    }
}

uint32_t
StageOf(const ParallelPlan& plan, uint32_t rank)
{
    return rank / (plan.tensor * plan.data);
}

} // namespace weir
