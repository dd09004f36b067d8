// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-graph.h"

#include "scenarios/results/text-table.h"

#include <stdexcept>
#include <vector>

namespace weir
{

namespace
{

constexpr double GIGAFLOP = 1e9;
constexpr std::size_t SHOWN_RANKS = 8; // of a group, then "..."

/** FLOPs in units of 1e9, with at least three significant figures down to a thousand FLOPs. */
std::string
Gigaflops(double flops)
{
    constexpr int MAX_DECIMALS = 6;
    int decimals = 2;
    for (double left = flops / GIGAFLOP; left > 0 && left < 1 && decimals < MAX_DECIMALS;
         left *= 10)
    {
        decimals++;
    }
    return FormatFixed(flops / GIGAFLOP, decimals);
}

struct OpPosition
{
    StreamKind stream;
    uint32_t index;
};

/**
 * The operations of all streams in one order that keeps each stream's order and every dependency.
 * Communication comes as early as possible, so that it directly follows the kernels that it waits
 * for. O(operations x streams).
 */
std::vector<OpPosition>
InOrder(const StepProgram& program)
{
    std::array<uint32_t, STREAM_COUNT> next{};
    std::vector<OpPosition> order;
    const auto isReady = [&](std::size_t stream) {
        const auto& ops = program.streams[stream];
        if (next[stream] == ops.size())
        {
            return false;
        }
        const StepOp& op = ops[next[stream]];
        for (uint32_t i = 0; i < op.dependencyCount; i++)
        {
            const StepDependency& needed = program.dependencies[op.firstDependency + i];
            if (next[static_cast<std::size_t>(needed.stream)] <= needed.position)
            {
                return false;
            }
        }
        return true;
    };
    bool moved = true;
    while (moved)
    {
        moved = false;
        for (std::size_t i = 1; i <= STREAM_COUNT && !moved; i++)
        {
            const std::size_t stream = i % STREAM_COUNT; // kernels last
            if (isReady(stream))
            {
                order.push_back({static_cast<StreamKind>(stream), next[stream]++});
                moved = true;
            }
        }
    }
    return order;
}

/** "{0 1 2 3}", shortened after SHOWN_RANKS ranks. */
std::string
RankList(const std::vector<Rank>& ranks)
{
    std::string text = "{";
    for (std::size_t i = 0; i < ranks.size() && i < SHOWN_RANKS; i++)
    {
        text += (i == 0 ? "" : " ") + std::to_string(ranks[i].Index());
    }
    return text + (ranks.size() > SHOWN_RANKS ? " ...}" : "}");
}

class RankDescription
{
  public:
    RankDescription(const StepGraph& graph, const GraphView& view)
        : m_graph(graph),
          m_view(view),
          m_program(graph.programs[graph.rankProgram[view.rank]]),
          m_table(4)
    {
    }

    std::string Print()
    {
        m_table.Row(
            {"stream", "#", "operation", "waits for", "mb", "layer", "time", "bytes", "GFLOP"});
        for (const OpPosition& position : InOrder(m_program))
        {
            const StepOp& op =
                m_program.streams[static_cast<std::size_t>(position.stream)][position.index];
            if (m_view.microBatch && op.microBatch != *m_view.microBatch)
            {
                continue;
            }
            AddOp(position, op);
        }
        return Heading() + m_table.Print(2);
    }

  private:
    std::string Heading() const
    {
        const uint32_t program = m_graph.rankProgram[m_view.rank];
        std::size_t alike = 0;
        for (const uint32_t other : m_graph.rankProgram)
        {
            alike += other == program ? 1 : 0;
        }
        std::string text = "rank " + std::to_string(m_view.rank) + " of " +
                           std::to_string(m_graph.RankCount()) + ", pipeline stage " +
                           std::to_string(m_graph.programStage[program]) + ", one of " +
                           std::to_string(alike) + " ranks with this program\n";
        const auto& slots = m_graph.rankGroups[m_view.rank];
        for (std::size_t slot = 0; slot < slots.size(); slot++)
        {
            if (slots[slot] != StepGraph::NO_GROUP)
            {
                const auto& members = m_graph.groups[slots[slot]];
                text += "  " + m_graph.slotNames[slot] + ": " + std::to_string(members.size()) +
                        (members.size() == 1 ? " rank " : " ranks ") + RankList(members) + "\n";
            }
        }
        return text;
    }

    void AddOp(const OpPosition& position, const StepOp& op)
    {
        const bool isCompute = op.kind == StepOpKind::Compute;
        double flops = 0;
        double traffic = 0;
        for (uint32_t i = 0; i < op.kernelCount; i++)
        {
            const KernelRecord& kernel = m_graph.kernels[op.firstKernel + i];
            flops += kernel.flops.ToDouble();
            traffic += kernel.bytes.ToDouble();
        }
        m_table.Row({ToString(position.stream),
                     std::to_string(position.index),
                     What(op),
                     WaitsFor(op),
                     std::to_string(op.microBatch),
                     op.layer == StepOp::NO_LAYER ? "" : std::to_string(op.layer),
                     isCompute ? FormatSeconds(op.duration.ToSeconds()) : "",
                     FormatDecimalBytes(isCompute ? traffic : op.bytes.ToDouble()),
                     isCompute ? Gigaflops(flops) : ""});
        for (uint32_t i = 0; m_view.kernels && i < op.kernelCount; i++)
        {
            AddKernel(m_graph.kernels[op.firstKernel + i]);
        }
    }

    void AddKernel(const KernelRecord& kernel)
    {
        std::string shape;
        for (const uint32_t extent : kernel.shape)
        {
            if (extent != 0)
            {
                shape += (shape.empty() ? " " : "x") + std::to_string(extent);
            }
        }
        m_table.Row({"",
                     "",
                     "  " + m_graph.labels[kernel.name] + shape,
                     "",
                     "",
                     "",
                     FormatSeconds(kernel.duration.ToSeconds()),
                     FormatDecimalBytes(kernel.bytes.ToDouble()),
                     Gigaflops(kernel.flops.ToDouble())});
    }

    /** "all-reduce over tensor: forward layer attention". */
    std::string What(const StepOp& op) const
    {
        const std::string& label = m_graph.labels[op.label];
        switch (op.kind)
        {
        case StepOpKind::Compute:
            return label;
        case StepOpKind::Collective:
            return std::string(ToString(op.collective)) + " over " + m_graph.slotNames[op.group] +
                   RootOf(op) + ": " + label;
        case StepOpKind::Send:
            return "send to " + std::to_string(Peer(op).Index()) + ": " + label;
        case StepOpKind::Recv:
            return "receive from " + std::to_string(Peer(op).Index()) + ": " + label;
        }
        return label;
    }

    /** " from 2" or " to 2" for a broadcast or a reduce, else empty. */
    std::string RootOf(const StepOp& op) const
    {
        if (op.collective != CollectiveOp::Broadcast && op.collective != CollectiveOp::Reduce)
        {
            return "";
        }
        const auto& members = m_graph.groups[m_graph.rankGroups[m_view.rank][op.group]];
        return (op.collective == CollectiveOp::Broadcast ? " from " : " to ") +
               std::to_string(members[op.root].Index());
    }

    /** The peer of a send or a receive: a pair is {sender, receiver}. */
    Rank Peer(const StepOp& op) const
    {
        const auto& pair = m_graph.groups[m_graph.rankGroups[m_view.rank][op.group]];
        return op.kind == StepOpKind::Send ? pair.back() : pair.front();
    }

    /** "tensor 12": stream and position of each dependency, besides the stream's own order. */
    std::string WaitsFor(const StepOp& op) const
    {
        std::string text;
        for (uint32_t i = 0; i < op.dependencyCount; i++)
        {
            const StepDependency& needed = m_program.dependencies[op.firstDependency + i];
            text += (text.empty() ? "" : ", ") + std::string(ToString(needed.stream)) + " " +
                    std::to_string(needed.position);
        }
        if (op.synchronizes)
        {
            text += text.empty() ? "CPU-GPU sync" : ", CPU-GPU sync";
        }
        return text;
    }

    const StepGraph& m_graph;
    const GraphView& m_view;
    const StepProgram& m_program;
    TextTable m_table;
};

} // namespace

std::string
DescribeGraph(const StepGraph& graph, const GraphView& view)
{
    if (view.rank >= graph.RankCount())
    {
        throw std::invalid_argument("found rank " + std::to_string(view.rank) +
                                    ", expected one of 0 to " +
                                    std::to_string(graph.RankCount() - 1));
    }
    return RankDescription(graph, view).Print();
}

} // namespace weir
