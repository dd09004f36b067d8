// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-graph-check.h"

#include "compute-model/graph/program-check.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** Checks that ranks and groups agree. */
class GroupCheck
{
  public:
    GroupCheck(const StepGraph& graph, std::vector<std::vector<SlotUse>> uses)
        : m_graph(graph),
          m_uses(std::move(uses)),
          m_seen(graph.groups.size())
    {
    }

    void Check()
    {
        for (std::size_t rank = 0; rank < m_graph.RankCount(); rank++)
        {
            CheckRank(rank);
        }
        for (std::size_t group = 0; group < m_graph.groups.size(); group++)
        {
            if (m_seen[group].users != 0 && m_seen[group].users != m_graph.groups[group].size())
            {
                throw std::invalid_argument(
                    "step graph: group " + std::to_string(group) + " is used by " +
                    std::to_string(m_seen[group].users) + " of its " +
                    std::to_string(m_graph.groups[group].size()) + " ranks");
            }
        }
    }

  private:
    struct Seen
    {
        SlotUse use; //!< of the first rank that uses the group, as sender if a pair
        uint32_t users{0};
    };

    [[noreturn]] static void Fail(std::size_t rank, const std::string& what)
    {
        throw std::invalid_argument("step graph: rank " + std::to_string(rank) + ": " + what);
    }

    void CheckRank(std::size_t rank)
    {
        const auto& uses = m_uses[m_graph.rankProgram[rank]];
        const auto& slots = m_graph.rankGroups[rank];
        for (std::size_t slot = 0; slot < uses.size(); slot++)
        {
            if (!uses[slot].IsUsed())
            {
                continue;
            }
            if (slot >= slots.size() || slots[slot] >= m_graph.groups.size())
            {
                Fail(rank,
                     "it has no group in slot " + std::to_string(slot) + ", which " +
                         DescribeFirstOp(rank, slot) + " uses");
            }
            CheckUse(rank, slot, uses[slot], slots[slot]);
        }
    }

    void CheckUse(std::size_t rank, std::size_t slot, const SlotUse& use, uint32_t group)
    {
        const auto& members = m_graph.groups[group];
        const auto place = std::find(members.begin(), members.end(), Rank(rank));
        if (place == members.end())
        {
            Fail(rank,
                 "it is not in group " + std::to_string(group) + ", which " +
                     DescribeFirstOp(rank, slot) + " uses");
        }
        if ((use.sends > 0 && (members.size() != 2 || place != members.begin())) ||
            (use.receives > 0 && (members.size() != 2 || place == members.begin())))
        {
            Fail(rank,
                 DescribeFirstOp(rank, slot) + " needs a group {sender, receiver}; group " +
                     std::to_string(group) + " is none for it");
        }
        SlotUse asSender = use;
        if (use.receives > 0)
        {
            asSender.sends = use.receives;
            asSender.sentSum = use.receivedSum;
        }
        Seen& seen = m_seen[group];
        if (seen.users++ == 0)
        {
            seen.use = asSender;
        }
        else if (seen.use.sends != asSender.sends || seen.use.sentSum != asSender.sentSum ||
                 seen.use.collectives != asSender.collectives ||
                 seen.use.collectiveSum != asSender.collectiveSum)
        {
            Fail(rank,
                 "it issues other communications on group " + std::to_string(group) +
                     " than the group's other ranks, beginning with " +
                     DescribeFirstOp(rank, slot));
        }
    }

    std::string DescribeFirstOp(std::size_t rank, std::size_t slot) const
    {
        const StepProgram& program = m_graph.programs[m_graph.rankProgram[rank]];
        for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
        {
            const auto& ops = program.streams[stream];
            for (std::size_t position = 0; position < ops.size(); position++)
            {
                const StepOp& op = ops[position];
                if (op.kind != StepOpKind::Compute && op.group == slot)
                {
                    return DescribeOp(m_graph, stream, position, op);
                }
            }
        }
        return "no operation";
    }

    const StepGraph& m_graph;
    std::vector<std::vector<SlotUse>> m_uses; //!< by program, then slot
    std::vector<Seen> m_seen;                 //!< by group
};

} // namespace

void
CheckStepGraph(const StepGraph& graph)
{
    if (graph.rankGroups.size() != graph.RankCount())
    {
        throw std::invalid_argument("step graph: " + std::to_string(graph.rankGroups.size()) +
                                    " lists of groups for " + std::to_string(graph.RankCount()) +
                                    " ranks");
    }
    for (std::size_t rank = 0; rank < graph.RankCount(); rank++)
    {
        if (graph.rankProgram[rank] >= graph.programs.size())
        {
            throw std::invalid_argument("step graph: rank " + std::to_string(rank) +
                                        ": its program " + std::to_string(graph.rankProgram[rank]) +
                                        " does not exist");
        }
    }
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        for (Rank member : graph.groups[group])
        {
            if (member.Index() >= graph.RankCount())
            {
                throw std::invalid_argument("step graph: group " + std::to_string(group) +
                                            ": its rank " + std::to_string(member.Index()) +
                                            " does not exist");
            }
        }
    }
    std::vector<std::vector<SlotUse>> uses;
    for (std::size_t program = 0; program < graph.programs.size(); program++)
    {
        uses.push_back(CheckProgram(graph, program));
    }
    GroupCheck(graph, std::move(uses)).Check();
}

} // namespace weir
