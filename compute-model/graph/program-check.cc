// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/program-check.h"

#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/** splitmix64's finaliser (Steele et al. 2014). */
uint64_t
Mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

uint64_t
HashOf(const StepOp& op, uint64_t order)
{
    const uint64_t what = op.kind == StepOpKind::Collective
                              ? (static_cast<uint64_t>(op.collective) + 1) | uint64_t{op.root} << 8
                              : 0;
    return Mix(Mix(static_cast<uint64_t>(op.bytes.Count()) + 0x9e3779b97f4a7c15ULL) ^ (what << 40) ^
               order);
}

/** Checks of one program that need no rank. */
class ProgramCheck
{
  public:
    ProgramCheck(const StepGraph& graph, std::size_t program)
        : m_graph(graph),
          m_program(graph.programs[program]),
          m_index(program)
    {
    }

    /** @return by slot, what the program does there. */
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
    [[noreturn]] void Fail(std::size_t stream,
                           std::size_t position,
                           const StepOp& op,
                           const std::string& what) const
    {
        throw std::invalid_argument("step graph: program " + std::to_string(m_index) + ", " +
                                    DescribeOp(m_graph, stream, position, op) + ": " + what);
    }

    void CheckOp(std::size_t stream, std::size_t position, const StepOp& op)
    {
        if (op.label >= m_graph.labels.size())
        {
            Fail(stream, position, op, "its label does not exist");
        }
        if (static_cast<std::size_t>(op.firstKernel) + op.kernelCount > m_graph.kernels.size())
        {
            Fail(stream, position, op, "its kernels do not exist");
        }
        if (static_cast<std::size_t>(op.firstDependency) + op.dependencyCount >
            m_program.dependencies.size())
        {
            Fail(stream, position, op, "its dependencies do not exist");
        }
        CheckDependencies(stream, position, op);
        if (op.kind == StepOpKind::Compute)
        {
            if (op.duration < Time() || op.duration.IsInfinite())
            {
                Fail(stream, position, op, "its duration is negative or infinite");
            }
            return;
        }
        if (op.bytes < Bytes())
        {
            Fail(stream, position, op, "its size is negative");
        }
        CountUse(op);
    }

    void CheckDependencies(std::size_t stream, std::size_t position, const StepOp& op) const
    {
        for (uint32_t i = 0; i < op.dependencyCount; i++)
        {
            const StepDependency& need = m_program.dependencies[op.firstDependency + i];
            const auto on = static_cast<std::size_t>(need.stream);
            if (on >= STREAM_COUNT || need.position >= m_program.streams[on].size())
            {
                Fail(stream, position, op, "it waits for an operation that does not exist");
            }
            if (on == stream && need.position >= position)
            {
                Fail(stream, position, op, "it waits for itself or a later one of its stream");
            }
        }
    }

    void CountUse(const StepOp& op)
    {
        if (op.group >= m_uses.size())
        {
            m_uses.resize(op.group + std::size_t{1});
        }
        SlotUse& use = m_uses[op.group];
        switch (op.kind)
        {
        case StepOpKind::Send:
            use.sentSum += HashOf(op, use.sends++);
            break;
        case StepOpKind::Recv:
            use.receivedSum += HashOf(op, use.receives++);
            break;
        default:
            use.collectiveSum += HashOf(op, use.collectives++);
        }
    }

    const StepGraph& m_graph;
    const StepProgram& m_program;
    std::size_t m_index;
    std::vector<SlotUse> m_uses;
};

} // namespace

std::string
DescribeOp(const StepGraph& graph, std::size_t stream, std::size_t position, const StepOp& op)
{
    const std::string label = op.label < graph.labels.size() ? graph.labels[op.label] : "?";
    return std::string(ToString(static_cast<StreamKind>(stream))) + " operation " +
           std::to_string(position) + " '" + label + "'";
}

std::vector<SlotUse>
CheckProgram(const StepGraph& graph, std::size_t program)
{
    return ProgramCheck(graph, program).Check();
}

} // namespace weir
