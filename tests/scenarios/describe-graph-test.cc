// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-graph.h"

#include "compute-model/graph/step-builder.h"
#include "tests/compute-model/transformer-samples.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace weir
{
namespace
{

StepGraph
SampleGraph()
{
    ParallelPlan plan;
    plan.tensor = 2;
    plan.pipeline = 2;
    plan.data = 2;
    plan.globalBatch = 8;
    return BuildTransformerStep(SampleGpt(4, 1024, 16), plan, SampleGpu());
}

/** Cells of a line, separated by at least two blanks. */
std::vector<std::string>
Cells(const std::string& line)
{
    std::vector<std::string> cells;
    std::size_t at = line.find_first_not_of(' ');
    while (at != std::string::npos)
    {
        const std::size_t end = line.find("  ", at);
        cells.push_back(line.substr(at, end == std::string::npos ? end : end - at));
        at = end == std::string::npos ? end : line.find_first_not_of(' ', end);
    }
    return cells;
}

/**
 * Every operation of the rank occurs once, in the order of its stream, after all operations that it
 * depends on.
 */
TEST(DescribeGraph, KeepsStreamsAndDependenciesInOrder)
{
    const StepGraph graph = SampleGraph();
    for (uint32_t rank = 0; rank < graph.RankCount(); rank += 3)
    {
        GraphView view;
        view.rank = rank;
        std::istringstream text(DescribeGraph(graph, view));
        const StepProgram& program = graph.programs[graph.rankProgram[rank]];
        std::set<std::string> known;
        for (std::size_t i = 0; i < STREAM_COUNT; i++)
        {
            known.insert(ToString(static_cast<StreamKind>(i)));
        }
        std::map<std::string, std::size_t> next;
        std::size_t count = 0;
        for (std::string line; std::getline(text, line);)
        {
            const auto cells = Cells(line);
            if (cells.size() < 3 || known.count(cells[0]) == 0)
            {
                continue;
            }
            EXPECT_EQ(cells[1], std::to_string(next[cells[0]]++)) << line;
            count++;
            std::istringstream waits(cells[3]);
            for (std::string stream; waits >> stream && known.count(stream) != 0;)
            {
                std::size_t position = 0;
                waits >> position;
                waits.ignore(1);
                EXPECT_LT(position, next[stream]) << line;
            }
        }
        std::size_t all = 0;
        for (const auto& ops : program.streams)
        {
            all += ops.size();
        }
        EXPECT_EQ(count, all);
    }
}

TEST(DescribeGraph, ShowsKernelsOfOneMicroBatch)
{
    const StepGraph graph = SampleGraph();
    GraphView view;
    view.microBatch = 1;
    view.kernels = true;
    const std::string one = DescribeGraph(graph, view);
    EXPECT_NE(one.find("FC1 2048x2048x1024"), std::string::npos); // s x 4h/T x h
    EXPECT_EQ(one.find("Adam"), std::string::npos);               // belongs to the step's end
    EXPECT_NE(one.find("tensor: 2 ranks {0 1}"), std::string::npos);
}

// A GEMM of 2 x 8 x 128 x 64 = 131 072 FLOPs (16 words, padded to 128) is not rounded to zero.
TEST(DescribeGraph, ShowsFewFlopsToThreeFigures)
{
    Transformer model = SampleGpt(1, 64, 1);
    model.sequence = 8;
    model.vocabulary = 16;
    ParallelPlan plan;
    plan.globalBatch = 1;
    plan.microBatch = 1;
    GraphView view;
    view.kernels = true;
    const std::string text = DescribeGraph(BuildTransformerStep(model, plan, SampleGpu()), view);
    const std::size_t logits = text.find("logits ");
    ASSERT_NE(logits, std::string::npos) << text;
    const std::string line = text.substr(logits, text.find('\n', logits) - logits);
    EXPECT_NE(line.find(" 0.000131"), std::string::npos) << line;
}

TEST(DescribeGraph, RefusesARankThatIsNotThere)
{
    GraphView view;
    view.rank = 8;
    EXPECT_THROW(DescribeGraph(SampleGraph(), view), std::invalid_argument);
}

} // namespace
} // namespace weir
