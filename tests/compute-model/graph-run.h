// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_COMPUTE_MODEL_GRAPH_RUN_H
#define WEIR_TESTS_COMPUTE_MODEL_GRAPH_RUN_H

#include "compute-model/execution/step-executor.h"
#include "compute-model/graph/step-program.h"
#include "compute-model/plan/rank-groups.h"

#include "fixed-time-engine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir
{

/** Sum of @p ofOp over all operations of all ranks. */
template <typename F>
double
SumOverRanks(const StepGraph& graph, F ofOp)
{
    std::vector<double> perProgram;
    for (const StepProgram& program : graph.programs)
    {
        double sum = 0;
        for (const auto& ops : program.streams)
        {
            for (const StepOp& op : ops)
            {
                sum += ofOp(op);
            }
        }
        perProgram.push_back(sum);
    }
    double total = 0;
    for (uint32_t program : graph.rankProgram)
    {
        total += perProgram[program];
    }
    return total;
}

/** Bytes of the operations of @p program with label @p label. */
inline double
BytesOf(const StepGraph& graph, const StepProgram& program, const std::string& label)
{
    double bytes = 0;
    for (const auto& ops : program.streams)
    {
        for (const StepOp& op : ops)
        {
            bytes += graph.labels[op.label] == label ? op.bytes.ToDouble() : 0;
        }
    }
    return bytes;
}

inline double
GemmFlops(const StepGraph& graph)
{
    return SumOverRanks(graph, [&graph](const StepOp& op) {
        double flops = 0;
        for (uint32_t i = 0; i < op.kernelCount; i++)
        {
            flops += graph.kernels[op.firstKernel + i].flops.ToDouble();
        }
        return flops;
    });
}

/** Members of @p rank's group in @p slot, in the group's order. */
inline std::vector<uint32_t>
MembersOf(const StepGraph& graph, uint32_t rank, GroupSlot slot)
{
    std::vector<uint32_t> members;
    for (Rank member : graph.groups[graph.rankGroups[rank][static_cast<std::size_t>(slot)]])
    {
        members.push_back(member.Index());
    }
    return members;
}

/** A specification that executes @p graph on @p engine, with one communicator per group. */
inline StepExecutorSpec
ExecutorSpec(const StepGraph& graph, CollectiveEngine& engine)
{
    StepExecutorSpec spec;
    spec.graph = &graph;
    spec.engine = &engine;
    for (std::size_t group = 0; group < graph.groups.size(); group++)
    {
        spec.communicators.push_back(CommunicatorId(group));
    }
    for (std::size_t traffic = 0; traffic < graph.traffics.size(); traffic++)
    {
        spec.traffics.push_back(TrafficId(traffic));
    }
    return spec;
}

/** Runs until no events are left. @return the time of the last event */
inline Time
RunToEnd(StepExecutor& executor, CollectiveEngine& engine)
{
    EngineSet engines;
    engines.Add(executor);
    engines.Add(engine);
    return engines.RunToEnd();
}

/** Runs to the end and expects all steps to have finished. */
inline void
Finish(StepExecutor& executor, CollectiveEngine& engine)
{
    RunToEnd(executor, engine);
    EXPECT_TRUE(executor.IsFinished()) << executor.DescribeWaiting();
}

/** Runs @p graph with collectives of the given duration. */
class Execution
{
  public:
    explicit Execution(
        const StepGraph& graph,
        FixedTimeEngine::Duration duration = [](const CollectiveCall&) { return Time(); })
        : m_engine(std::move(duration)),
          m_executor(ExecutorSpec(graph, m_engine))
    {
        Finish(m_executor, m_engine);
    }

    Time StepTime() const
    {
        return m_executor.StepTimes().at(0);
    }

    const std::vector<RankBreakdown>& Breakdown() const
    {
        return m_executor.Breakdown();
    }

    Time Spent(uint32_t rank, TimeCategory category) const
    {
        return Breakdown()[rank].spent[static_cast<std::size_t>(category)];
    }

  private:
    FixedTimeEngine m_engine;
    StepExecutor m_executor;
};

} // namespace weir

#endif // WEIR_TESTS_COMPUTE_MODEL_GRAPH_RUN_H
