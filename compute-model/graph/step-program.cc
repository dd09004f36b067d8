// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-program.h"

#include "fabric/routing/flow-hash.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

namespace
{

uint64_t
HashOf(const StepOp& op)
{
    const uint64_t what = op.kind == StepOpKind::Collective
                              ? (static_cast<uint64_t>(op.collective) + 1) | uint64_t{op.root} << 8
                              : 0;
    return SplitMix64(SplitMix64(static_cast<uint64_t>(op.bytes.Count())) ^ (what << 40));
}

/** Communications of one kind that a program issues on a slot. */
struct IssuedOps
{
    uint64_t count{0};
    uint64_t sum{0};      //!< hash of the communications in any order
    uint64_t sequence{0}; //!< hash of the communications by stream, then position

    void Add(const StepOp& op)
    {
        count++;
        sum += HashOf(op);
        sequence = SplitMix64(sequence ^ HashOf(op));
    }

    /** @param inOrder whether the order of issue is compared, too */
    bool IsSame(const IssuedOps& other, bool inOrder) const
    {
        return count == other.count && sum == other.sum && (!inOrder || sequence == other.sequence);
    }
};

/**
 * Use of one slot by one program, over all streams; the same for all members of a group. The
 * members issue the communications of a group in the same order (as on one NCCL communicator), but
 * each on streams of its own. The order between streams is known only when they run.
 */
struct SlotUse
{
    IssuedOps sends;
    IssuedOps receives;
    IssuedOps collectives;
    uint32_t streams{0}; //!< bits of the streams on which it is used

    bool IsUsed() const
    {
        return streams != 0;
    }

    bool IsOnOneStream() const
    {
        return (streams & (streams - 1)) == 0;
    }
};

/** "compute operation 3 'forward MLP'". */
std::string
DescribeOp(const StepGraph& graph, std::size_t stream, std::size_t position, const StepOp& op)
{
    const std::string label = op.label < graph.labels.size() ? graph.labels[op.label] : "?";
    return std::string(ToString(static_cast<StreamKind>(stream))) + " operation " +
           std::to_string(position) + " '" + label + "'";
}

/**
 * Checks what needs no rank: that labels, kernels and dependencies exist, that no operation waits
 * for itself or a later one of its stream, that durations and sizes are valid.
 */
class ProgramCheck
{
  public:
    ProgramCheck(const StepGraph& graph, std::size_t program)
        : m_graph(graph),
          m_program(graph.programs[program]),
          m_index(program)
    {
    }

    /**
     * @return by slot, the program's use of it.
     * @throws std::invalid_argument naming the program and the operation.
     */
    std::vector<SlotUse> Check()
    {
        for (std::size_t stream = 0; stream < STREAM_COUNT; stream++)
        {
            const auto& ops = m_program.streams[stream];
            for (std::size_t position = 0; position < ops.size(); position++)
            {
                CheckOp(stream, position, ops[position]);
            }
        }
        return std::move(m_uses);
    }

  private:
    void CheckOp(std::size_t stream, std::size_t position, const StepOp& op)
    {
        const auto require = [&](bool holds, const char* otherwise) {
            if (!holds)
            {
                throw std::invalid_argument("step graph: program " + std::to_string(m_index) +
                                            ", " + DescribeOp(m_graph, stream, position, op) +
                                            ": " + otherwise);
            }
        };
        const std::size_t endKernel = static_cast<std::size_t>(op.firstKernel) + op.kernelCount;
        const std::size_t endDependency =
            static_cast<std::size_t>(op.firstDependency) + op.dependencyCount;
        require(op.label < m_graph.labels.size(), "its label does not exist");
        require(endKernel <= m_graph.kernels.size(), "its kernels do not exist");
        require(endDependency <= m_program.dependencies.size(), "its dependencies do not exist");
        for (std::size_t i = op.firstDependency; i < endDependency; i++)
        {
            const StepDependency& need = m_program.dependencies[i];
            const auto on = static_cast<std::size_t>(need.stream);
            require(on < STREAM_COUNT && need.position < m_program.streams[on].size(),
                    "it waits for an operation that does not exist");
            require(on != stream || need.position < position,
                    "it waits for itself or a later operation of its stream");
        }
        if (op.kind == StepOpKind::Compute)
        {
            require(!(op.duration < Time() || op.duration.IsInfinite()),
                    "its duration is negative or infinite");
            return;
        }
        require(!(op.bytes < Bytes()), "its size is negative");
        CountUse(stream, op);
    }

    void CountUse(std::size_t stream, const StepOp& op)
    {
        if (op.group >= m_uses.size())
        {
            m_uses.resize(op.group + std::size_t{1});
        }
        SlotUse& use = m_uses[op.group];
        use.streams |= 1U << stream;
        switch (op.kind)
        {
        case StepOpKind::Send:
            use.sends.Add(op);
            break;
        case StepOpKind::Recv:
            use.receives.Add(op);
            break;
        default:
            use.collectives.Add(op);
        }
    }

    const StepGraph& m_graph;
    const StepProgram& m_program;
    std::size_t m_index;
    std::vector<SlotUse> m_uses;
};

/** Checks that ranks and groups are consistent. */
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
        SlotUse use; //!< of the first rank that uses the group on one stream, or of the first one
                     //!< where there is none yet; of a pair, as the sender
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
        const auto member = std::find(members.begin(), members.end(), Rank(rank));
        if (member == members.end())
        {
            Fail(rank,
                 "it is not in group " + std::to_string(group) + ", which " +
                     DescribeFirstOp(rank, slot) + " uses");
        }
        if ((use.sends.count > 0 && (members.size() != 2 || member != members.begin())) ||
            (use.receives.count > 0 && (members.size() != 2 || member == members.begin())))
        {
            Fail(rank,
                 DescribeFirstOp(rank, slot) + " needs a group {sender, receiver}; group " +
                     std::to_string(group) + " is not one for this rank");
        }
        SlotUse asSender = use;
        if (use.receives.count > 0)
        {
            asSender.sends = use.receives;
        }
        Seen& seen = m_seen[group];
        const bool inOrder = use.IsOnOneStream() && seen.use.IsOnOneStream();
        if (seen.users++ == 0)
        {
            seen.use = asSender;
        }
        else if (!asSender.sends.IsSame(seen.use.sends, inOrder) ||
                 !asSender.collectives.IsSame(seen.use.collectives, inOrder))
        {
            Fail(rank,
                 "it issues other communications on group " + std::to_string(group) +
                     " than the group's other ranks, beginning with " +
                     DescribeFirstOp(rank, slot));
        }
        else if (!seen.use.IsOnOneStream())
        {
            seen.use = asSender; // the same communications, perhaps in an order to compare
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
        uses.push_back(ProgramCheck(graph, program).Check());
    }
    GroupCheck(graph, std::move(uses)).Check();
}

} // namespace weir
