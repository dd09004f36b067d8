// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/rank-groups.h"

#include "graph-run.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>

namespace weir
{
namespace
{

Transformer
SmallLlama()
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    model.sequence = 8192;
    return model;
}

ParallelPlan
ContextPlan(uint32_t context, ContextExchange exchange)
{
    ParallelPlan plan;
    plan.context = context;
    plan.contextExchange = exchange;
    return plan;
}

// Splitting a sequence does not change the useful FLOPs of a step: half of the s x s scores.
TEST(ContextStep, FlopsAreThoseOfTheWholeSequence)
{
    const Transformer model = SmallLlama();
    const double whole =
        GemmFlops(BuildTransformerStep(model, ContextPlan(1, ContextExchange::Ring), SampleGpu()));
    for (const ContextExchange exchange :
         {ContextExchange::Ring, ContextExchange::AllGather, ContextExchange::Pieces})
    {
        for (const uint32_t context : {2U, 4U, 8U})
        {
            const StepGraph graph =
                BuildTransformerStep(model, ContextPlan(context, exchange), SampleGpu());
            EXPECT_NEAR(GemmFlops(graph) / whole, 1, 1e-12) << context;
        }
    }
}

// Bytes per layer and rank, in units of the keys and values of s/C tokens. Ring: C - 1 forward; C -
// 1 plus C times the gradients backward. All-gather: C forward, C backward, C for the gradients. In
// pieces: C twice, repeated for 64 query heads per 8 key heads, plus C times the gradients in 32
// bits.
TEST(ContextStep, KeysTravelOnceRound)
{
    const Transformer model = SmallLlama();
    const double c = 4;
    const double keys = model.sequence / c * 2 * 8 * 128 * 2;
    const double ring = (c - 1) + (c - 1) + c;
    const double gathered = 3 * c;
    const double pieces = 64 / 8 * (2 * c + 2 * c);
    for (const auto& [exchange, times] : {std::pair(ContextExchange::Ring, ring),
                                          std::pair(ContextExchange::AllGather, gathered),
                                          std::pair(ContextExchange::Pieces, pieces)})
    {
        const StepGraph graph = BuildTransformerStep(model, ContextPlan(4, exchange), SampleGpu());
        double bytes = 0;
        for (const StepOp& op :
             graph.programs[0].streams[static_cast<std::size_t>(StreamKind::TensorComm)])
        {
            bytes += op.category == TimeCategory::Context ? op.bytes.ToDouble() : 0;
        }
        EXPECT_EQ(bytes, model.layers * keys * times);
    }
}

// If a transfer takes less time than a step's attention, the ring hides all transfers except the
// last one, which returns key gradients; in pieces that one overlaps with the last sum of query
// gradients. With all-gather everything is exposed: two gathers and a reduce-scatter per layer.
TEST(ContextStep, TheRingHidesBesideAttention)
{
    const Transformer model = SmallLlama();
    const Time once = Time::Microseconds(20);
    for (const auto& [exchange, exposed] : {std::pair(ContextExchange::Ring, 1),
                                            std::pair(ContextExchange::AllGather, 3),
                                            std::pair(ContextExchange::Pieces, 0)})
    {
        const StepGraph graph = BuildTransformerStep(model, ContextPlan(4, exchange), SampleGpu());
        const Execution run(graph, [&](const CollectiveCall&) { return once; });
        const Time context = run.Spent(0, TimeCategory::Context);
        EXPECT_EQ(context, once * (exposed * 2));
        for (const RankBreakdown& rank : run.Breakdown())
        {
            EXPECT_EQ(std::accumulate(rank.spent.begin(), rank.spent.end(), Time()),
                      run.StepTime());
        }
    }
}

// Rank = tensor + T (context + C (data + D pipeline)). Gradients are summed over all ranks with the
// same weights, including those of one sequence.
TEST(ContextStep, GroupsFollowTheRankOrder)
{
    ParallelPlan plan = ContextPlan(2, ContextExchange::Ring);
    plan.tensor = 2;
    plan.data = 2;
    plan.globalBatch = 2;
    const StepGraph graph = BuildTransformerStep(SmallLlama(), plan, SampleGpu());
    using Members = std::vector<uint32_t>;
    EXPECT_EQ(MembersOf(graph, 5, GroupSlot::Tensor), (Members{4, 5}));
    EXPECT_EQ(MembersOf(graph, 5, GroupSlot::Context), (Members{5, 7}));
    EXPECT_EQ(MembersOf(graph, 5, GroupSlot::Data), (Members{1, 3, 5, 7}));
}

TEST(CheckPlan, RefusesASequenceThatDoesNotSplit)
{
    Transformer model = SmallLlama();
    const auto refusal = [&](const ParallelPlan& plan) -> std::string {
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
    EXPECT_EQ(refusal(ContextPlan(3, ContextExchange::Ring)),
              "context * 2: found 6, expected a divisor of sequence = 8192");
    ParallelPlan unfused = ContextPlan(2, ContextExchange::Ring);
    unfused.attention = AttentionKind::Unfused;
    EXPECT_EQ(refusal(unfused), "attention: found unfused, expected fused with context above 1");
    model.sequence = 8200; // divisible by 2 * 4, not by 2 * 4 * 2
    ParallelPlan plan = ContextPlan(4, ContextExchange::Ring);
    EXPECT_EQ(refusal(plan), "");
    plan.tensor = 2;
    plan.sequenceParallel = true;
    EXPECT_EQ(refusal(plan),
              "context * 2 * tensor: found 16, expected a divisor of sequence = 8200");
}

} // namespace
} // namespace weir
