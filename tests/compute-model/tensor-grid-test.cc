// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/parallel-plan.h"

#include "compute-model/graph/program-writer.h"
#include "compute-model/graph/step-builder.h"
#include "compute-model/graph/step-program.h"
#include "compute-model/layers/linear-kernels.h"
#include "compute-model/plan/activation-memory.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/rank-groups.h"
#include "compute-model/plan/stage-layers.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

Transformer
SmallGpt()
{
    return SampleGpt(2, 1024, 16);
}

/** A grid of [side, side, depth], with one sample of a micro-batch per rank. */
ParallelPlan
GridPlan(uint32_t side, uint32_t depth)
{
    ParallelPlan plan;
    plan.grid = {side, depth};
    plan.tensor = side * side * depth;
    plan.microBatch = side * depth;
    plan.globalBatch = plan.microBatch;
    return plan;
}

/** Bytes of blocks that one rank of a program receives or forwards, by slot. */
using Moved = std::map<GroupSlot, double>;

/**
 * A rank is the root of one of the q broadcasts or reductions of its row or column, and moves bytes
 * in the others.
 */
void
Count(const StepOp& op, uint32_t side, Moved& moved)
{
    if (op.kind == StepOpKind::Collective &&
        (op.collective == CollectiveOp::Broadcast || op.collective == CollectiveOp::Reduce))
    {
        moved[static_cast<GroupSlot>(op.group)] += op.bytes.ToDouble() * (side - 1) / side;
    }
}

Moved
MovedBy(const StepProgram& program, uint32_t side)
{
    Moved moved;
    for (const auto& ops : program.streams)
    {
        for (const StepOp& op : ops)
        {
            Count(op, side, moved);
        }
    }
    return moved;
}

/** One linear layer on a grid; all ranks run one program of its GEMMs. */
class LinearOnGrid
{
  public:
    explicit LinearOnGrid(const ParallelPlan& plan)
        : m_plan(plan),
          m_gpu(SampleGpu()),
          m_timer(m_gpu, ClockRegime::Burst),
          m_kernels(graph, m_timer)
    {
        WriteRankGroups(SmallGpt(), plan, graph);
        graph.rankProgram.assign(plan.Ranks(), 0);
        graph.programs.emplace_back();
        graph.programStage.push_back(0);
        shape.name = "linear";
        shape.rows = 4096;
        shape.in = 512;
        shape.out = 768;
    }

    /** Writes the operations that @p write adds to a SegmentWriter. */
    template <typename F>
    LinearOnGrid& Run(F write)
    {
        SegmentWriter segments(m_kernels, m_plan);
        segments.Section("linear");
        if constexpr (std::is_invocable_v<F, SegmentWriter&, LinearShape>)
        {
            write(segments, shape);
        }
        else // a function that may wait for a gather
        {
            write(segments, shape, Segment::NOTHING);
        }
        ProgramWriter writer(m_kernels, graph.programs[0]);
        writer.Append(segments.Take());
        return *this;
    }

    /** Duration of one operation of the compute stream. */
    Time Kernels(std::size_t position = 0) const
    {
        return graph.programs[0].streams[0].at(position).duration;
    }

    StepGraph graph;
    LinearShape shape;

  private:
    ParallelPlan m_plan;
    Gpu m_gpu;
    KernelTimer m_timer;
    KernelTable m_kernels;
};

double
FlopsOfRank(const StepGraph& graph)
{
    return GemmFlops(graph) / static_cast<double>(graph.RankCount());
}

// Y [T, n] = X [T, m] W [m, n] on [q, q, d]: blocks of X have T m / (d q^2) elements, blocks of W m
// n / q^2. Each of the q - 1 steps in which a rank is not the root brings it one block of either
// (Tesseract, arXiv 2105.14500): forward X along rows and W along columns; dX: W along columns, dX
// along rows; dW: X along rows, dW along columns.
TEST(Summa, MovesWhatItsClosedFormSays)
{
    constexpr double BF16 = 2;
    for (const auto& [side, depth] : {std::pair(2U, 1U), std::pair(2U, 2U), std::pair(4U, 1U)})
    {
        const ParallelPlan plan = GridPlan(side, depth);
        LinearOnGrid forward(plan);
        const double input = BF16 * forward.shape.rows * forward.shape.in;
        const double weight = BF16 * forward.shape.in * forward.shape.out;
        const double steps = side - 1;
        const Moved expected{{GroupSlot::TensorRow, steps * input},
                             {GroupSlot::TensorColumn, steps * weight}};
        EXPECT_EQ(MovedBy(forward.Run(WriteLinearForward).graph.programs[0], side), expected);
        EXPECT_EQ(MovedBy(LinearOnGrid(plan).Run(WriteInputGradient).graph.programs[0], side),
                  expected);
        EXPECT_EQ(MovedBy(LinearOnGrid(plan).Run(WriteWeightGradient).graph.programs[0], side),
                  expected);
    }
}

// A word embedding E [n, m] is transposed: Y = X E^T reduces Y along rows; dX = dY E and dE = dY^T
// X broadcast dY along rows; E and dE move along columns.
TEST(Summa, TiedOutputMovesLogitsInsteadOfInputs)
{
    constexpr double BF16 = 2;
    const auto moved = [](auto write) {
        LinearOnGrid linear(GridPlan(2, 1));
        linear.shape.isEmbedding = true;
        return MovedBy(linear.Run(write).graph.programs[0], 2);
    };
    const Moved expected{{GroupSlot::TensorRow, BF16 * 4096 * 768},
                         {GroupSlot::TensorColumn, BF16 * 512 * 768}};
    EXPECT_EQ(moved(WriteLinearForward), expected);
    EXPECT_EQ(moved(WriteInputGradient), expected);
    EXPECT_EQ(moved(WriteWeightGradient), expected);
}

// q broadcasts of time c along each side and q GEMMs of time g. With two buffers: the first
// broadcast, then whichever takes longer, c + q g or q c + g. Without overlap rows, columns and
// GEMMs are sequential: q (2 c + g).
TEST(Summa, BroadcastsOverlapGemms)
{
    const double q = 4;
    for (const bool overlaps : {true, false})
    {
        for (const double share : {0.25, 3.0})
        {
            ParallelPlan plan = GridPlan(4, 1);
            plan.overlapTensor = overlaps;
            LinearOnGrid linear(plan);
            const Time g = linear.Run(WriteLinearForward).Kernels();
            const Time c = g * share;
            const Execution run(linear.graph, [&](const CollectiveCall&) { return c; });
            const Time expected = !overlaps ? (c * 2.0 + g) * q : share < 1 ? c + g * q : c * q + g;
            EXPECT_NEAR(run.StepTime() / expected, 1, 1e-9) << overlaps << ' ' << share;
        }
    }
}

// The input gradient's reductions overlap with later GEMMs, except for the last: c + q g + c.
TEST(Summa, ReductionsOverlapGemms)
{
    const double q = 4;
    for (const bool overlaps : {true, false})
    {
        ParallelPlan plan = GridPlan(4, 1);
        plan.overlapTensor = overlaps;
        LinearOnGrid linear(plan);
        const Time g = linear.Run(WriteInputGradient).Kernels();
        const Time c = g * 0.25;
        const Execution run(linear.graph, [&](const CollectiveCall&) { return c; });
        const Time expected = overlaps ? c * 2.0 + g * q : (c * 2.0 + g) * q;
        EXPECT_NEAR(run.StepTime() / expected, 1, 1e-9) << overlaps;
    }
}

// In the rooted calls of a row or column each of its ranks is the root once per GEMM.
TEST(Summa, EveryRankOfALineIsRootInTurn)
{
    LinearOnGrid linear(GridPlan(4, 1));
    linear.Run(WriteLinearForward);
    for (const StreamKind stream : {StreamKind::TensorComm, StreamKind::TensorColumnComm})
    {
        std::vector<uint32_t> roots;
        for (const StepOp& op : linear.graph.programs[0].streams[static_cast<std::size_t>(stream)])
        {
            roots.push_back(op.root);
        }
        EXPECT_EQ(roots, (std::vector<uint32_t>{0, 1, 2, 3}));
    }
}

// All ranks of a row or column must name the same root.
TEST(Summa, OtherRootsAreRefused)
{
    LinearOnGrid linear(GridPlan(2, 1));
    StepGraph& graph = linear.Run(WriteLinearForward).graph;
    EXPECT_NO_THROW(CheckStepGraph(graph));
    graph.programs.push_back(graph.programs[0]);
    graph.programStage.push_back(0);
    graph.rankProgram[3] = 1;
    EXPECT_NO_THROW(CheckStepGraph(graph));
    graph.programs[1].streams[static_cast<std::size_t>(StreamKind::TensorComm)][0].root = 1;
    EXPECT_THROW(CheckStepGraph(graph), std::invalid_argument);
}

// The total work of a step does not depend on the grid: each GPU does total / p.
TEST(TensorGrid, FlopsOfARankAreThePartOfIt)
{
    for (const auto& [side, depth] : {std::pair(2U, 1U), std::pair(2U, 2U), std::pair(4U, 1U)})
    {
        const ParallelPlan plan = GridPlan(side, depth);
        ParallelPlan oneRank;
        oneRank.microBatch = plan.microBatch;
        oneRank.globalBatch = plan.globalBatch;
        const double whole = GemmFlops(BuildTransformerStep(SmallGpt(), oneRank, SampleGpu()));
        const StepGraph graph = BuildTransformerStep(SmallGpt(), plan, SampleGpu());
        EXPECT_NEAR(FlopsOfRank(graph) * plan.tensor / whole, 1, 1e-12) << side << ' ' << depth;
        EXPECT_EQ(graph.programs.size(), 1U); // shared by all ranks of the grid
    }
}

// A grid of one rank equals no grid: the same operations, the same time.
TEST(TensorGrid, OfOneRankIsPlain)
{
    for (const Transformer& model : {SmallGpt(), SampleLlama70b()})
    {
        ParallelPlan plain;
        plain.microBatch = 2;
        plain.globalBatch = 4;
        ParallelPlan grid = plain;
        grid.grid = {1, 1};
        const StepGraph a = BuildTransformerStep(model, plain, SampleGpu());
        const StepGraph b = BuildTransformerStep(model, grid, SampleGpu());
        EXPECT_EQ(Execution(a).StepTime(), Execution(b).StepTime());
        EXPECT_EQ(a.labels, b.labels);
        EXPECT_EQ(a.kernels.size(), b.kernels.size());
        EXPECT_EQ(EstimateMemory(model, plain).Total(), EstimateMemory(model, grid).Total());
    }
}

// [1, 1, d] holds the whole model d times and splits the samples: data parallelism.
TEST(TensorGrid, OfOneColumnIsDataParallelism)
{
    ParallelPlan data;
    data.data = 4;
    data.microBatch = 2;
    data.globalBatch = 16;
    ParallelPlan grid = data;
    grid.data = 1;
    grid.grid = {1, 4};
    grid.tensor = 4;
    grid.microBatch = 8;
    const auto slow = [](const CollectiveCall& call) {
        return Time::Microseconds(5 + call.bytes.ToDouble() / 1e5);
    };
    const StepGraph a = BuildTransformerStep(SmallGpt(), data, SampleGpu());
    const StepGraph b = BuildTransformerStep(SmallGpt(), grid, SampleGpu());
    EXPECT_EQ(Execution(a, slow).StepTime(), Execution(b, slow).StepTime());
    EXPECT_EQ(EstimateMemory(SmallGpt(), data).Total(), EstimateMemory(SmallGpt(), grid).Total());
}

// A second grid layer takes as many further samples: inside it everything equals 2-D, and the
// gradients of every weight, 4 bytes each, are summed with those of the other layer.
TEST(TensorGrid, LayersAreTwoDimensionalButForTheirGradients)
{
    const StepGraph flat = BuildTransformerStep(SmallGpt(), GridPlan(2, 1), SampleGpu());
    const StepGraph deep = BuildTransformerStep(SmallGpt(), GridPlan(2, 2), SampleGpu());
    EXPECT_EQ(MovedBy(flat.programs[0], 2), MovedBy(deep.programs[0], 2));
    EXPECT_EQ(Execution(flat).StepTime(), Execution(deep).StepTime());
    double gradients = 0;
    for (const StepOp& op :
         deep.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)])
    {
        gradients += op.group == static_cast<uint16_t>(GroupSlot::Data) ? op.bytes.ToDouble() : 0;
    }
    EXPECT_NEAR(gradients, 4 * RankStageParameters(SmallGpt(), GridPlan(2, 2), 0), 1);
}

// Rank = column + q (row + q (layer + d (data + ...))); ranks with the same weights are those of
// all layers and replicas.
TEST(TensorGrid, GroupsFollowTheRankOrder)
{
    ParallelPlan plan = GridPlan(2, 2);
    plan.data = 2;
    plan.globalBatch *= 2;
    const StepGraph graph = BuildTransformerStep(SmallGpt(), plan, SampleGpu());
    using Members = std::vector<uint32_t>;
    EXPECT_EQ(MembersOf(graph, 13, GroupSlot::TensorRow), (Members{12, 13}));
    EXPECT_EQ(MembersOf(graph, 13, GroupSlot::TensorColumn), (Members{13, 15}));
    EXPECT_EQ(MembersOf(graph, 13, GroupSlot::Data), (Members{1, 5, 9, 13}));
    EXPECT_EQ(MembersOf(graph, 13, GroupSlot::Optimizer), (Members{12, 13, 14, 15}));
}

// The q^2 ranks of a grid layer hold each matrix once, the q ranks of a row each vector once: in
// total the whole model, for any d. Activations are split over all q^2 d ranks.
TEST(TensorGrid, SharesMemoryOut)
{
    const Transformer model = SmallGpt();
    for (const auto& [side, depth] : {std::pair(2U, 1U), std::pair(2U, 3U), std::pair(4U, 1U)})
    {
        const ParallelPlan plan = GridPlan(side, depth);
        const double vectors = WholeStageParameters(model, plan, 0);
        const double matrices = RankStageParameters(model, plan, 0) - vectors;
        EXPECT_NEAR(matrices * side * side + vectors * side, model.Parameters(), 1);
        ParallelPlan oneRank;
        oneRank.microBatch = plan.microBatch;
        EXPECT_EQ(LayerActivations(model, plan, false) * plan.tensor,
                  LayerActivations(model, oneRank, false));
    }
}

// With pipeline stages each rank passes on its own block: [T / (d q), h / q] activations.
TEST(TensorGrid, StagesPassBlocksOn)
{
    ParallelPlan plan = GridPlan(2, 2);
    plan.pipeline = 2;
    plan.data = 2;
    plan.globalBatch *= 4;
    const StepGraph graph = BuildTransformerStep(SmallGpt(), plan, SampleGpu());
    const auto& sends =
        graph.programs[0].streams[static_cast<std::size_t>(StreamKind::PipelineSend)];
    ASSERT_EQ(sends.size(), 2U);
    EXPECT_EQ(sends[0].bytes, Bytes(2048 * (1024 / 2) * 2));
    Execution run(graph, [](const CollectiveCall&) { return Time::Microseconds(7); });
    EXPECT_GT(run.Spent(0, TimeCategory::Tensor), Time());
}

// With the other features of a plan, too, a grid's ranks do the GEMMs of one rank that processes
// all samples, and account for the whole step.
TEST(TensorGrid, GoesWithSchedulesShardingAndRecomputation)
{
    const auto c = [](const CollectiveCall&) { return Time::Microseconds(7); };
    std::vector<ParallelPlan> plans(6, GridPlan(2, 2));
    plans[0].recomputation = Recomputation::Full;
    plans[1].recomputation = Recomputation::Operators;
    plans[2].sharding.state = ShardedState::Full;
    plans[3].distributedOptimizer = true;
    plans[4].pipeline = 2;
    plans[4].schedule = PipelineScheduleKind::ZeroBubbleH1;
    plans[5].sharding.state = ShardedState::Full;
    plans[5].sharding.ranks = 2;
    for (ParallelPlan& plan : plans)
    {
        plan.data = 2;
        plan.globalBatch = 4 * plan.microBatch * plan.data;
        ParallelPlan oneRank;
        oneRank.microBatch = plan.microBatch;
        oneRank.globalBatch = plan.globalBatch;
        oneRank.recomputation = plan.recomputation;
        const double whole = GemmFlops(BuildTransformerStep(SmallGpt(), oneRank, SampleGpu()));
        const StepGraph graph = BuildTransformerStep(SmallGpt(), plan, SampleGpu());
        EXPECT_NEAR(GemmFlops(graph) / whole, 1, 1e-9);
        const Execution run(graph, c);
        ASSERT_EQ(run.Breakdown().size(), plan.Ranks());
        for (const RankBreakdown& rank : run.Breakdown())
        {
            EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()),
                      run.StepTime());
        }
    }
}

TEST(TensorGrid, RefusesWhatDoesNotFit)
{
    const auto refusal = [](ParallelPlan plan, Transformer model) -> std::string {
        try
        {
            CheckPlan(model, plan);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    };
    ParallelPlan plan = GridPlan(2, 2);
    EXPECT_EQ(refusal(plan, SmallGpt()), "");
    plan.tensor = 4;
    EXPECT_EQ(refusal(plan, SmallGpt()),
              "tensorShape: found [2, 2, 2], expected [q, q, d] with q * q * d = tensor = 4");
    plan = GridPlan(2, 2);
    plan.microBatch = 6;
    EXPECT_EQ(refusal(plan, SmallGpt()),
              "microBatch: found 6, expected a multiple of q * d = 4 with tensorShape [2, 2, 2]");
    plan = GridPlan(3, 1);
    EXPECT_EQ(refusal(plan, SmallGpt()),
              "tensorShape: found [3, 3, 1], expected a side that divides hidden = 1024");
    EXPECT_EQ(refusal(plan, SampleGpt(2, 1536, 16)),
              "tensorShape: found [3, 3, 1], expected a side that divides heads = 16");
    Transformer odd = SmallGpt();
    odd.ffn = 4095;
    EXPECT_EQ(refusal(GridPlan(2, 1), odd),
              "tensorShape: found [2, 2, 1], expected a side that divides ffn = 4095");
    plan = GridPlan(2, 2);
    plan.sequenceParallel = true;
    EXPECT_EQ(refusal(plan, SmallGpt()),
              "tensorShape: found [2, 2, 2], expected no tensorShape with sequenceParallel");
}

} // namespace
} // namespace weir
