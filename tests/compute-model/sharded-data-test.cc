// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"
#include "compute-model/plan/memory-estimate.h"
#include "compute-model/plan/rank-groups.h"
#include "compute-model/plan/shard-units.h"
#include "compute-model/plan/stage-layers.h"

#include "graph-run.h"
#include "replicas.h"
#include "transformer-samples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{
namespace
{

constexpr uint32_t LAYERS = 4;
const Transformer MODEL = SampleGpt(LAYERS, 1024, 16);

/** Bytes that rank 0 moves by one kind of collective on one stream. */
double
Moved(const StepGraph& graph, CollectiveOp collective, StreamKind stream = StreamKind::DataComm)
{
    double bytes = 0;
    for (const StepOp& op : graph.programs[0].streams[static_cast<std::size_t>(stream)])
    {
        bytes += op.collective == collective ? op.bytes.ToDouble() : 0;
    }
    return bytes;
}

// Units sum to the parameters of the stage, for any plan.
TEST(ShardUnits, SumToTheStage)
{
    for (const uint32_t pipeline : {1U, 2U})
    {
        ParallelPlan plan = Sharded(ShardedState::Full, 2, 2);
        plan.pipeline = pipeline;
        for (uint32_t stage = 0; stage < pipeline; stage++)
        {
            const std::vector<double> units = WeightsOf(MODEL, plan, stage)[0].units;
            EXPECT_EQ(units.size(), LAYERS / pipeline + 1);
            EXPECT_EQ(std::accumulate(units.begin(), units.end(), 0.0),
                      RankStageParameters(MODEL, plan, stage));
        }
    }
}

// FSDP: every micro-batch gathers the root unit once, and each layer before its forward and again
// before its backward pass, except for the last layer, whose backward pass follows directly; it
// reduces everything once. Weights have 2 bytes, gradients 4 or 2.
TEST(FullSharding, GathersTwiceAndReducesOnceAMicroBatch)
{
    for (const uint32_t microBatches : {1U, 3U})
    {
        for (const bool fp32Gradients : {false, true})
        {
            ParallelPlan plan = Sharded(ShardedState::Full, 4, microBatches);
            plan.fp32Gradients = fp32Gradients;
            const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
            const std::vector<double> units = WeightsOf(MODEL, plan, 0)[0].units;
            const double gathered = units.back() + (2 * LAYERS - 1) * units.front();
            EXPECT_EQ(Moved(graph, CollectiveOp::AllGather), microBatches * 2 * gathered);
            EXPECT_EQ(Moved(graph, CollectiveOp::ReduceScatter),
                      microBatches * (fp32Gradients ? 4 : 2) * RankStageParameters(MODEL, plan, 0));
        }
    }
}

// Without resharding and with no_sync (torchtitan under pipelines) a step moves weights once and
// gradients once, for any number of micro-batches.
TEST(FullSharding, KeepsWeightsAndGradientsWhenTold)
{
    ParallelPlan plan = Sharded(ShardedState::Full, 2, 4);
    plan.pipeline = 2;
    plan.sharding.reshard = false;
    plan.sharding.everyPass = false;
    const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
    const double parameters = RankStageParameters(MODEL, plan, 0);
    EXPECT_EQ(Moved(graph, CollectiveOp::AllGather), 2 * parameters);
    EXPECT_EQ(Moved(graph, CollectiveOp::ReduceScatter), 4 * parameters);
    const Execution run(graph); // no rank waits forever
    EXPECT_GT(run.StepTime(), Time());
}

// A stage's parameters are divided among its model chunks. Each backward pass of a chunk reduces
// the chunk's own gradients, so a micro-batch reduces each parameter once: those of the embedding
// with the first chunk of the first stage, those of the output layer with the last chunk of the
// last.
TEST(FullSharding, ChunksOfAStageReduceEachParameterOnce)
{
    constexpr uint32_t MICRO_BATCHES = 4;
    ParallelPlan plan = Sharded(ShardedState::Full, 2, MICRO_BATCHES);
    plan.pipeline = 2;
    plan.virtualStages = 2;
    plan.schedule = PipelineScheduleKind::Interleaved;
    for (const bool everyPass : {true, false})
    {
        plan.sharding.everyPass = everyPass;
        const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
        ASSERT_EQ(graph.programs.size(), plan.pipeline);
        for (std::size_t i = 0; i < graph.programs.size(); i++)
        {
            const double parameters = RankStageParameters(MODEL, plan, graph.programStage[i]);
            EXPECT_EQ(BytesOf(graph, graph.programs[i], "unit gradients reduce-scatter"),
                      (everyPass ? MICRO_BATCHES : 1) * 4 * parameters);
        }
        const Execution run(graph); // no rank waits forever
        EXPECT_GT(run.StepTime(), Time());
    }
}

// A gather shorter than a layer's pass is hidden if it is issued one unit ahead: only those of the
// root unit and (after the embedding's few kernels) of the first layer are exposed. Issued on
// demand, each is exposed in full.
TEST(FullSharding, PrefetchHidesGathers)
{
    const Time gather = Time::Microseconds(100);
    const auto duration = [gather](const CollectiveCall& call) {
        return call.op == CollectiveOp::AllGather ? gather : Time();
    };
    ParallelPlan plan = Sharded(ShardedState::Full, 4, 1);
    const Execution ahead(BuildTransformerStep(MODEL, plan, SampleGpu()), duration);
    EXPECT_GT(ahead.Spent(0, TimeCategory::Data), gather);
    EXPECT_LE(ahead.Spent(0, TimeCategory::Data), gather * 2);
    plan.sharding.prefetch = 0;
    const Execution late(BuildTransformerStep(MODEL, plan, SampleGpu()), duration);
    EXPECT_EQ(late.Spent(0, TimeCategory::Data), gather * (2 * LAYERS));
}

// Reductions overlap with the backward pass of the next units; that of the root unit is last and
// exposed.
TEST(FullSharding, ReductionsHideButTheLast)
{
    const Time reduction = Time::Microseconds(100);
    const auto duration = [reduction](const CollectiveCall& call) {
        return call.op == CollectiveOp::ReduceScatter ? reduction : Time();
    };
    const ParallelPlan plan = Sharded(ShardedState::Full, 4, 1);
    const Execution run(BuildTransformerStep(MODEL, plan, SampleGpu()), duration);
    EXPECT_GE(run.Spent(0, TimeCategory::Data), reduction);
    EXPECT_LT(run.Spent(0, TimeCategory::Data), reduction * 2);
}

// Hybrid sharding: adjacent ranks shard a copy, and ranks with the same shard sum it over the
// copies; a shard is 1 / `ranks` of the scattered gradients.
TEST(FullSharding, HybridShardingSumsPartsAmongCopies)
{
    ParallelPlan plan = Sharded(ShardedState::Full, 8, 2);
    plan.sharding.ranks = 4;
    const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
    using Members = std::vector<uint32_t>;
    EXPECT_EQ(MembersOf(graph, 5, GroupSlot::Shard), (Members{4, 5, 6, 7}));
    EXPECT_EQ(MembersOf(graph, 5, GroupSlot::Replicas), (Members{1, 5}));
    EXPECT_EQ(MembersOf(graph, 5, GroupSlot::Optimizer), (Members{4, 5, 6, 7}));
    EXPECT_EQ(Moved(graph, CollectiveOp::AllReduce, StreamKind::ReplicaComm) * 4,
              Moved(graph, CollectiveOp::ReduceScatter));
    const Execution run(graph, [](const CollectiveCall&) { return Time::Microseconds(20); });
    for (uint32_t rank = 1; rank < 8; rank++)
    {
        EXPECT_EQ(run.Breakdown()[rank].spent, run.Breakdown()[0].spent);
    }
}

// ZeRO-1 reduces after the last micro-batch, ZeRO-2 after each (Rajbhandari et al. 2020, 7.2.1).
TEST(DataSharding, GradientsAreReducedInEveryMicroBatchOrTheLast)
{
    for (const uint32_t microBatches : {1U, 4U})
    {
        const ParallelPlan first = Sharded(ShardedState::Optimizer, 4, microBatches);
        const ParallelPlan second = Sharded(ShardedState::Gradients, 4, microBatches);
        const double bytes = 4 * RankStageParameters(MODEL, first, 0);
        EXPECT_EQ(
            Moved(BuildTransformerStep(MODEL, first, SampleGpu()), CollectiveOp::ReduceScatter),
            bytes);
        EXPECT_EQ(
            Moved(BuildTransformerStep(MODEL, second, SampleGpu()), CollectiveOp::ReduceScatter),
            bytes * microBatches);
    }
}

/** Memory traffic of rank 0's kernels of the given name. */
double
TrafficOf(const StepGraph& graph, const std::string& name)
{
    double bytes = 0;
    for (const auto& ops : graph.programs[0].streams)
    {
        for (const StepOp& op : ops)
        {
            for (uint32_t i = 0; i < op.kernelCount; i++)
            {
                const KernelRecord& kernel = graph.kernels[op.firstKernel + i];
                bytes += graph.labels[kernel.name] == name ? kernel.bytes.ToDouble() : 0;
            }
        }
    }
    return bytes;
}

// ZeRO-2 keeps only a shard of the gradients, so no full buffer is cleared. From the second pass on
// each of N ranks reads the reduced shard of P parameters and the sum so far, and writes the sum: 3
// x 4 P / N bytes, rounded to whole rows of a kernel. If reduction is postponed to the last pass, 4
// P bytes are cleared.
TEST(DataSharding, PartsOfGradientsAreAddedFromTheSecondPassOn)
{
    const uint32_t ranks = 4;
    for (const KernelFusion fusion : {KernelFusion::Kernels, KernelFusion::Eager})
    {
        for (const uint32_t microBatches : {1U, 4U})
        {
            ParallelPlan plan = Sharded(ShardedState::Gradients, ranks, microBatches);
            plan.fusion = fusion;
            const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
            const double parameters = RankStageParameters(MODEL, plan, 0);
            EXPECT_EQ(TrafficOf(graph, "gradient zero"), 0);
            const double added = (microBatches - 1) * 3.0 * 4 * parameters / ranks;
            EXPECT_NEAR(TrafficOf(graph, "gradient shard add"), added, 1e-3 * added);
            plan.sharding.everyPass = false;
            const StepGraph late = BuildTransformerStep(MODEL, plan, SampleGpu());
            EXPECT_EQ(TrafficOf(late, "gradient zero"), microBatches > 1 ? 4 * parameters : 0);
            EXPECT_EQ(TrafficOf(late, "gradient shard add"), 0);
        }
    }
}

// Each pass waits for its own reductions, so that its buckets are free for the next pass:
// reductions much longer than passes are fully exposed.
TEST(DataSharding, PassesWaitForTheirReductions)
{
    const uint32_t microBatches = 3;
    ParallelPlan plan = Sharded(ShardedState::Gradients, 4, microBatches);
    plan.bucket = Bytes::GiB(4); // one per pass, after its last kernel
    const Time reduction = Time::Seconds(1);
    const auto duration = [reduction](const CollectiveCall& call) {
        return call.op == CollectiveOp::ReduceScatter ? reduction : Time();
    };
    const Execution run(BuildTransformerStep(MODEL, plan, SampleGpu()), duration);
    EXPECT_EQ(run.Spent(0, TimeCategory::Data), reduction * microBatches);
}

// distributedOptimizer is a synonym of `optimizer`.
TEST(DataSharding, DistributedOptimizerIsZeroOne)
{
    ParallelPlan old = Sharded(ShardedState::None, 4, 2);
    old.distributedOptimizer = true;
    const ParallelPlan plan = Sharded(ShardedState::Optimizer, 4, 2);
    const auto duration = [](const CollectiveCall& call) {
        return Time::Microseconds(10) + call.bytes / Rate::GBps(100);
    };
    EXPECT_EQ(Execution(BuildTransformerStep(MODEL, old, SampleGpu()), duration).StepTime(),
              Execution(BuildTransformerStep(MODEL, plan, SampleGpu()), duration).StepTime());
    EXPECT_EQ(EstimateMemory(MODEL, old).Total(), EstimateMemory(MODEL, plan).Total());
}

// InternEvo's zero1 group: gradients are all-reduced over all replicas, and weights gathered by the
// few ranks that shard the optimizer's state.
TEST(DataSharding, OptimizerOfAFewReplicas)
{
    ParallelPlan plan = Sharded(ShardedState::Optimizer, 8, 1);
    plan.sharding.ranks = 2;
    plan.sharding.scatter = false;
    const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
    const double parameters = RankStageParameters(MODEL, plan, 0);
    EXPECT_EQ(Moved(graph, CollectiveOp::ReduceScatter), 0);
    EXPECT_EQ(Moved(graph, CollectiveOp::AllGather), 2 * parameters);
    const Bytes norm(4);
    EXPECT_EQ(Moved(graph, CollectiveOp::AllReduce), 4 * parameters + norm.ToDouble());
    for (const StepOp& op :
         graph.programs[0].streams[static_cast<std::size_t>(StreamKind::DataComm)])
    {
        if (op.collective == CollectiveOp::AllGather)
        {
            EXPECT_EQ(op.group, static_cast<uint16_t>(GroupSlot::Shard));
        }
    }
}

// Gathered during the next forward pass, the same bytes cost less time.
TEST(DataSharding, OverlappedGatherIsPartlyHidden)
{
    ParallelPlan plan = Sharded(ShardedState::Optimizer, 4, 1);
    const auto duration = [](const CollectiveCall& call) {
        return call.op == CollectiveOp::AllGather ? call.bytes / Rate::GBps(200) : Time();
    };
    const StepGraph behind = BuildTransformerStep(MODEL, plan, SampleGpu());
    plan.sharding.overlapGather = true;
    const StepGraph beside = BuildTransformerStep(MODEL, plan, SampleGpu());
    EXPECT_EQ(Moved(behind, CollectiveOp::AllGather), Moved(beside, CollectiveOp::AllGather));
    EXPECT_LT(Execution(beside, duration).Spent(0, TimeCategory::Data),
              Execution(behind, duration).Spent(0, TimeCategory::Data));
}

// The gradient norm of a single replica is reduced by its tensor ranks: no data-parallel time.
TEST(DataSharding, NormOfOneReplicaIsNoDataTime)
{
    ParallelPlan plan;
    plan.tensor = 2;
    const StepGraph graph = BuildTransformerStep(MODEL, plan, SampleGpu());
    const Execution run(graph, [](const CollectiveCall&) { return Time::Microseconds(50); });
    EXPECT_EQ(run.Spent(0, TimeCategory::Data), Time());
    EXPECT_GT(run.Spent(0, TimeCategory::Tensor), Time());
}

// Mixed precision under ZeRO-3: 16 bytes per parameter over N ranks (Rajbhandari et al. 2020, 3.1,
// without the 16-bit copies, which are gathered on use).
TEST(ShardedMemory, SixteenBytesOverRanks)
{
    for (const uint32_t data : {2U, 8U})
    {
        const ParallelPlan plan = Sharded(ShardedState::Full, data, 1);
        const MemoryEstimate memory = EstimateMemory(MODEL, plan);
        const double state = (memory.weights + memory.gradients + memory.optimizer).ToDouble();
        EXPECT_NEAR(state, 16 * RankStageParameters(MODEL, plan, 0) / data, 1);
    }
}

// ZeRO-2: 2 bytes per parameter in full, 14 over N (ibid., figure 1: 2 + (2 + 12)/N with 16-bit
// gradients).
TEST(ShardedMemory, ZeroTwoSharesGradients)
{
    ParallelPlan plan = Sharded(ShardedState::Gradients, 4, 1);
    plan.fp32Gradients = false;
    const MemoryEstimate memory = EstimateMemory(MODEL, plan);
    const double parameters = RankStageParameters(MODEL, plan, 0);
    EXPECT_NEAR((memory.weights + memory.gradients + memory.optimizer).ToDouble(),
                (2 + 14.0 / 4) * parameters,
                1);
}

// In addition to its shard a rank holds gradients not yet reduced: those of the largest unit, a
// layer of 12 h^2 + 13 h parameters or the word embedding, in 2 bytes, and two buckets, of which
// the one with the embedding has its size.
TEST(ShardedMemory, ZeroTwoHoldsTheGradientsInReduction)
{
    ParallelPlan plan = Sharded(ShardedState::Gradients, 4, 2);
    plan.bucket = Bytes::MiB(8);
    const double bucket = plan.bucket.ToDouble();
    const double h = MODEL.hidden;
    const double words = RankWordParameters(MODEL, plan);
    ASSERT_GT(words, 12 * h * h + 13 * h);
    EXPECT_NEAR(EstimateMemory(MODEL, plan).gathered.ToDouble(), 2 * words + bucket + 4 * words, 1);
    plan.sharding.everyPass = false; // gradients are accumulated in full, reduced in place
    EXPECT_EQ(EstimateMemory(MODEL, plan).gathered, Bytes());
    plan.sharding.everyPass = true;
    plan.bucket = Bytes::GiB(64); // one bucket per pass
    EXPECT_NEAR(EstimateMemory(MODEL, plan).gathered.ToDouble(),
                2 * words + 4 * RankStageParameters(MODEL, plan, 0),
                1);
    Transformer narrow = MODEL;
    narrow.vocabulary = 1024; // padded to a multiple of at most 128 per rank
    plan.bucket = Bytes::MiB(8);
    EXPECT_NEAR(EstimateMemory(narrow, plan).gathered.ToDouble(),
                2 * (12 * h * h + 13 * h) + 2 * bucket,
                1);
}

// If gradients are reduced only with the last micro-batch, they are accumulated in full until then.
TEST(ShardedMemory, GradientsThatArePutOffAreWhole)
{
    ParallelPlan plan = Sharded(ShardedState::Gradients, 8, 4);
    const double whole = 4 * RankStageParameters(MODEL, plan, 0);
    EXPECT_NEAR(EstimateMemory(MODEL, plan).gradients.ToDouble(), whole / 8, 1);
    plan.sharding.everyPass = false;
    EXPECT_NEAR(EstimateMemory(MODEL, plan).gradients.ToDouble(), whole, 1);
    plan.globalBatch = 8; // the only micro-batch is the last
    EXPECT_NEAR(EstimateMemory(MODEL, plan).gradients.ToDouble(), whole / 8, 1);
}

// The same for FSDP: no_sync keeps full gradients, but not with a single pass.
TEST(ShardedMemory, NoSyncOfASinglePassKeepsNothing)
{
    for (const uint32_t microBatches : {1U, 4U})
    {
        ParallelPlan plan = Sharded(ShardedState::Full, 8, microBatches);
        const double before = EstimateMemory(MODEL, plan).gathered.ToDouble();
        plan.sharding.everyPass = false;
        const double whole = microBatches == 1 ? 0 : 4 * RankStageParameters(MODEL, plan, 0);
        EXPECT_NEAR(EstimateMemory(MODEL, plan).gathered.ToDouble(), before + whole, 1);
    }
}

// Without resharding the weights of all layers are held, instead of those of two units.
TEST(ShardedMemory, ReshardingSavesAllButTheUnitsInFlight)
{
    ParallelPlan plan = Sharded(ShardedState::Full, 4, 1);
    const Bytes resharded = EstimateMemory(MODEL, plan).gathered;
    plan.sharding.reshard = false;
    const Bytes kept = EstimateMemory(MODEL, plan).gathered;
    const double layer = WeightsOf(MODEL, plan, 0)[0].units.front();
    EXPECT_NEAR((kept - resharded).ToDouble(), (LAYERS - 2) * layer * 2, 1);
}

// PyTorch's non-reentrant checkpoint stops before the last GEMM, whose output is not read: 2 s b 4h
// h FLOPs per layer less than full recomputation. Selective "op" recomputes only the k and o GEMMs
// (a GPT has no gate): 2 s b h (h + h).
TEST(Recomputation, CountsTheGemmsOfEachKind)
{
    const double tokens = MODEL.sequence;
    const double h = MODEL.hidden;
    ParallelPlan plan;
    const auto flops = [&plan](Recomputation recomputation, uint32_t every) {
        plan.recomputation = recomputation;
        plan.recomputeEvery = every;
        return GemmFlops(BuildTransformerStep(MODEL, plan, SampleGpu()));
    };
    const double none = flops(Recomputation::None, 1);
    const double full = flops(Recomputation::Full, 1);
    EXPECT_NEAR(full - flops(Recomputation::Needed, 1), LAYERS * 2 * tokens * 4 * h * h, 1);
    EXPECT_NEAR(flops(Recomputation::Operators, 1) - none, LAYERS * 2 * tokens * h * 2 * h, 1);
    EXPECT_NEAR(flops(Recomputation::Full, 2) - none, (full - none) / 2, 1);
    // The attention core for any kernels: one flash kernel of 4 s s h FLOPs, halved by the causal
    // mask.
    const double attention = 2 * tokens * tokens * h;
    EXPECT_NEAR(flops(Recomputation::Selective, 1) - none, LAYERS * attention, 1);
}

// One kernel per PyTorch operation takes longer than fused kernels, and those take longer than
// compiled ones; the GEMMs are the same.
TEST(KernelFusion, FewerPassesOverMemory)
{
    Transformer model = SampleLlama70b();
    model.layers = 2;
    ParallelPlan plan;
    plan.fp32Gradients = false; // which PyTorch casts
    const auto step = [&](KernelFusion fusion) {
        plan.fusion = fusion;
        return BuildTransformerStep(model, plan, SampleGpu());
    };
    const StepGraph eager = step(KernelFusion::Eager);
    const StepGraph fused = step(KernelFusion::Kernels);
    const StepGraph compiled = step(KernelFusion::Compiled);
    EXPECT_GT(Execution(eager).StepTime(), Execution(fused).StepTime());
    EXPECT_GT(Execution(fused).StepTime(), Execution(compiled).StepTime());
    EXPECT_EQ(GemmFlops(eager), GemmFlops(compiled));
}

TEST(DataSharding, RefusesWhatCannotBe)
{
    const auto refusal = [](const ParallelPlan& plan) -> std::string {
        try
        {
            CheckPlan(MODEL, plan);
        }
        catch (const std::invalid_argument& error)
        {
            return error.what();
        }
        return "";
    };
    ParallelPlan plan = Sharded(ShardedState::Full, 8, 1);
    EXPECT_EQ(refusal(plan), "");
    plan.sharding.ranks = 3;
    EXPECT_EQ(refusal(plan),
              "dataSharding: found ranks = 3, expected 0 (all replicas) or a divisor of the 8 "
              "replicas, at least 2");
    plan.sharding.state = ShardedState::None;
    EXPECT_EQ(refusal(plan),
              "dataSharding: found ranks = 3 with state none, expected a state other than none");
    plan = Sharded(ShardedState::Gradients, 8, 1);
    plan.overlapGradients = false;
    EXPECT_EQ(refusal(plan),
              "dataSharding: found state gradients without overlapGradients, expected "
              "overlapGradients: true");
    plan = Sharded(ShardedState::Full, 2, 4);
    plan.pipeline = 2;
    plan.schedule = PipelineScheduleKind::ZeroBubbleH1;
    EXPECT_EQ(refusal(plan),
              "schedule: found a zero-bubble schedule with dataSharding full, expected 1f1b, "
              "interleaved or gpipe");
}

} // namespace
} // namespace weir
