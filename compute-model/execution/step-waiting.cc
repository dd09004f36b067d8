// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/step-executor-state.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr std::size_t NAMED_RANKS = 4; //!< ranks of a group that are named before "and more"

/** "rank 1, 2, 3, 4 and 3 more of group 5". */
class RankList
{
  public:
    void Add(Rank rank)
    {
        if (m_count++ < NAMED_RANKS)
        {
            m_text += (m_count == 1 ? " " : ", ") + std::to_string(rank.Index());
        }
    }

    std::string OfGroup(uint32_t group) const
    {
        const std::string more =
            m_count > NAMED_RANKS ? " and " + std::to_string(m_count - NAMED_RANKS) + " more" : "";
        return m_text + more + " of group " + std::to_string(group);
    }

  private:
    std::string m_text{"rank"};
    std::size_t m_count{0};
};

} // namespace

std::string
StepExecutor::State::DescribeWaiting(std::size_t limit) const
{
    if (HasAllSteps())
    {
        return "";
    }
    std::string text;
    std::size_t named = 0;
    std::size_t more = 0;
    for (uint32_t rank = 0; rank < fold.actorOf.size(); rank++)
    {
        if (begun && actors[fold.actorOf[rank]].open == 0)
        {
            continue;
        }
        if (named == limit)
        {
            more++;
            continue;
        }
        text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " " +
                (begun ? DescribeRank(rank) : std::string("has not begun"));
        named++;
    }
    if (more > 0)
    {
        text += " and " + std::to_string(more) + " more ranks";
    }
    return text;
}

std::string
StepExecutor::State::DescribeRank(uint32_t rank) const
{
    const uint32_t actor = fold.actorOf[rank];
    const ActorState& state = actors[actor];
    // The first active stream; a stream that is only blocked says less.
    const auto isActive = [](const StreamState& s) {
        return s.phase == StreamPhase::Posted || s.phase == StreamPhase::Running;
    };
    const auto isOpen = [](const StreamState& s) { return s.phase != StreamPhase::Done; };
    auto at = std::find_if(state.streams.begin(), state.streams.end(), isActive);
    if (at == state.streams.end())
    {
        at = std::find_if(state.streams.begin(), state.streams.end(), isOpen);
    }
    const auto stream = static_cast<std::size_t>(at - state.streams.begin());
    const StepOp& op = HeadOf(actor, stream);
    std::string text = "waits in '" + spec.graph->labels[op.label] + "' (" +
                       ToString(static_cast<StreamKind>(stream)) + " operation " +
                       std::to_string(at->position) + ", micro-batch " +
                       std::to_string(op.microBatch) + ")";
    switch (at->phase)
    {
    case StreamPhase::Posted:
        return text + " for " +
               DescribeRendezvous(at->rendezvous, spec.graph->rankGroups[rank][op.group]);
    case StreamPhase::Running:
        return op.kind == StepOpKind::Compute
                   ? text + ", which is in progress"
                   : text + " with " +
                         DescribeOthers(spec.graph->rankGroups[rank][op.group], rank) +
                         ", which is in progress";
    default:
        return text + " for its own stream " + ToString(static_cast<StreamKind>(at->waitsFor));
    }
}

std::string
StepExecutor::State::DescribeRendezvous(uint32_t id, uint32_t group) const
{
    const Rendezvous& rendezvous = pending.Get(id);
    RankList missing;
    for (Rank member : spec.graph->groups[group])
    {
        bool here = false;
        for (uint32_t i = 0; i < rendezvous.arrived; i++)
        {
            here = here || pending.ArrivedKey(id, i) / STREAM_COUNT == fold.actorOf[member.Index()];
        }
        if (!here)
        {
            missing.Add(member);
        }
    }
    return missing.OfGroup(group);
}

std::string
StepExecutor::State::DescribeOthers(uint32_t group, uint32_t rank) const
{
    RankList others;
    for (Rank member : spec.graph->groups[group])
    {
        if (member.Index() != rank)
        {
            others.Add(member);
        }
    }
    return others.OfGroup(group);
}

} // namespace weir
