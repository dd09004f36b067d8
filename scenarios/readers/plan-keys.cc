// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-keys.h"

#include "scenarios/readers/scenario-names.h"

namespace weir
{

namespace
{

// Products of two of these stay within 32 bits.
constexpr int64_t MOST_WAYS = 65535;
constexpr int64_t MOST_SAMPLES = 1 << 24; // of a step

PlanKey
Count(const char* path, const char* help, PlanPlace<uint32_t> at, int64_t most = MOST_WAYS)
{
    return {path, help, PlanCount{at, 1, most}};
}

/** A count that may be zero. */
PlanKey
CountOrNone(const char* path, const char* help, PlanPlace<uint32_t> at)
{
    return {path, help, PlanCount{at, 0, MOST_WAYS}};
}

PlanKey
Flag(const char* path, const char* help, PlanPlace<bool> at)
{
    return {path, help, PlanFlag{at}};
}

template <typename E>
PlanKey
Choice(const char* path, const char* help, const NamedChoices<E>& choices, PlanPlace<E> at)
{
    PlanChoice choice;
    std::vector<E> values;
    for (const auto& [name, value] : choices)
    {
        choice.names.emplace_back(name);
        values.push_back(value);
    }
    choice.get = [at, values](const ParallelPlan& plan) {
        ParallelPlan copy = plan;
        std::size_t index = 0;
        while (index < values.size() && values[index] != at(copy))
        {
            index++;
        }
        return index;
    };
    choice.set = [at, values](ParallelPlan& plan, std::size_t index) {
        at(plan) = values.at(index);
    };
    return {path, help, std::move(choice)};
}

void
Append(std::vector<PlanKey>& keys, const std::vector<PlanKey>& more)
{
    keys.insert(keys.end(), more.begin(), more.end());
}

using Plan = ParallelPlan;

/** How ranks share the model and a step's samples out. */
std::vector<PlanKey>
WayKeys()
{
    return {
        Count(
            "tensor", "Tensor-parallel ways.", [](Plan & p) -> auto& { return p.tensor; }),
        Count(
            "pipeline", "Pipeline stages.", [](Plan & p) -> auto& { return p.pipeline; }),
        Count(
            "data", "Data-parallel replicas.", [](Plan & p) -> auto& { return p.data; }),
        Count(
            "context", "Ranks that share a sequence.", [](Plan & p) -> auto& { return p.context; }),
        Choice("contextExchange",
               "How they see each other's keys and values: ring, all-gather or pieces.",
               ContextExchangeNames(),
               PlanPlace<ContextExchange>([](Plan & p) -> auto& { return p.contextExchange; })),
        Count(
            "expert", "Ranks that share the experts of a layer.", [](Plan & p) -> auto& {
                return p.expert;
            }),
        CountOrNone(
            "expertTensor",
            "Ranks that share an expert; 0: as many as tensor.",
            [](Plan & p) -> auto& { return p.expertTensor; }),
        Flag(
            "sequenceParallel",
            "Whether tensor parallelism also splits the sequence of norms and dropouts.",
            [](Plan & p) -> auto& { return p.sequenceParallel; }),
        Choice("schedule",
               "Of the pipeline: 1f1b, interleaved, gpipe, zb-h1 or zb-1p.",
               ScheduleNames(),
               PlanPlace<PipelineScheduleKind>([](Plan & p) -> auto& { return p.schedule; })),
        Count(
            "virtualStages",
            "Model chunks of a stage; more than 1 only when interleaved.",
            [](Plan & p) -> auto& { return p.virtualStages; }),
        Count(
            "microBatch",
            "Samples of one micro-batch.",
            [](Plan & p) -> auto& { return p.microBatch; },
            MOST_WAYS + 1),
        Count(
            "globalBatch",
            "Samples of one step, over all replicas.",
            [](Plan & p) -> auto& { return p.globalBatch; },
            MOST_SAMPLES)};
}

/** How kernels and communication go. */
std::vector<PlanKey>
KernelKeys()
{
    return {Choice("recomputation",
                   "Of activations in backward: none, selective, full, needed or operators.",
                   RecomputationNames(),
                   PlanPlace<Recomputation>([](Plan & p) -> auto& { return p.recomputation; })),
            Choice("attention",
                   "fused (one flash-attention kernel) or unfused.",
                   AttentionNames(),
                   PlanPlace<AttentionKind>([](Plan & p) -> auto& { return p.attention; })),
            {"attentionSpeed",
             "Of the fused kernel over the one that the GPU's figures are of.",
             PlanNumber{[](Plan & p) -> auto& {return p.attentionSpeed;
}

, 0.01, 100
} // namespace
} // namespace weir

,
    Flag(
        "overlapTensor",
        "Whether kernels run beside tensor-parallel communication.",
        [](Plan& p) -> auto& { return p.overlapTensor; }),
    Flag(
        "overlapGradients",
        "Whether data-parallel gradients go in buckets during backward.",
        [](Plan& p) -> auto& { return p.overlapGradients; }),
    {"bucket",
     "Gradient bytes of a bucket when overlapped.",
     PlanSize{[](Plan & p) -> auto& {return p.bucket;
}
}
}
, Flag(
      "distributedOptimizer", "Whether replicas share the optimizer's state (ZeRO-1).", [
      ](Plan& p) -> auto& { return p.distributedOptimizer; })
}
;
}

std::vector<PlanKey>
ShardingKeys()
{
    return {Choice("dataSharding.state",
                   "What replicas share out: none, optimizer, gradients or full.",
                   ShardedStateNames(),
                   PlanPlace<ShardedState>([](Plan & p) -> auto& { return p.sharding.state; })),
            CountOrNone(
                "dataSharding.ranks",
                "Neighbours that hold one copy together; 0: all replicas.",
                [](Plan & p) -> auto& { return p.sharding.ranks; }),
            Flag(
                "dataSharding.reshard",
                "Whether weights are given up after a forward pass.",
                [](Plan & p) -> auto& { return p.sharding.reshard; }),
            CountOrNone(
                "dataSharding.prefetch",
                "Units whose weights are gathered ahead.",
                [](Plan & p) -> auto& { return p.sharding.prefetch; }),
            Flag(
                "dataSharding.everyPass",
                "Whether gradients are reduced after each micro-batch.",
                [](Plan & p) -> auto& { return p.sharding.everyPass; }),
            Flag(
                "dataSharding.scatter",
                "Whether each rank gets its part of the gradients only.",
                [](Plan & p) -> auto& { return p.sharding.scatter; }),
            Flag(
                "dataSharding.overlapGather",
                "Whether updated weights are gathered beside the next forward pass.",
                [](Plan & p) -> auto& { return p.sharding.overlapGather; }),
            Flag(
                "dataSharding.perParameter",
                "Whether tensors are copied between buffers and parameters.",
                [](Plan & p) -> auto& { return p.sharding.perParameter; })};
}

std::vector<PlanKey>
EmbeddingKeys()
{
    constexpr int64_t MOST_WIDTH = 65536; // of a row
    return {
        Choice("embeddings.placement",
               "How embedding tables lie: tables, rows or columns.",
               EmbeddingPlacementNames(),
               PlanPlace<EmbeddingPlacement>(
                   [](Plan & p) -> auto& { return p.embeddings.placement; })),
        Choice("embeddings.balance",
               "What tables are dealt out by: lookups or size.",
               EmbeddingBalanceNames(),
               PlanPlace<EmbeddingBalance>([](Plan & p) -> auto& { return p.embeddings.balance; })),
        {"embeddings.splitAbove",
         "Larger tables go by rows.",
         PlanSize{[](Plan & p) -> auto& {return p.embeddings.splitAbove;
}
}
}
, {"embeddings.splitColumnsAbove",
   "Larger tables go by columns.",
   PlanSize{[](Plan & p) -> auto& {return p.embeddings.splitColumnsAbove;
}
}
}
,
    Count(
        "embeddings.columnWidth",
        "Columns of a part of a table that goes by columns.",
        [](Plan& p) -> auto& { return p.embeddings.columnWidth; },
        MOST_WIDTH),
    Choice("embeddings.optimizer",
           "Of embedding rows: sgd, rowwise-adagrad or adagrad.",
           EmbeddingOptimizerNames(),
           PlanPlace<EmbeddingOptimizer>([](Plan& p) -> auto& { return p.embeddings.optimizer; })),
    Flag(
        "embeddings.exchangeIndices",
        "Whether ranks send the indices of their samples to where the rows are.",
        [](Plan& p) -> auto& { return p.embeddings.exchangeIndices; })
}
;
}

std::vector<PlanKey>
FrameworkKeys()
{
    return {Choice("fusion",
                   "How many kernels stand between products: eager, kernels or compiled.",
                   KernelFusionNames(),
                   PlanPlace<KernelFusion>([](Plan & p) -> auto& { return p.fusion; })),
            Count(
                "recomputeEvery", "Of so many layers one is recomputed.", [](Plan & p) -> auto& {
                    return p.recomputeEvery;
                }),
            Flag(
                "fp32Gradients",
                "Whether gradients are kept and reduced in 4 bytes.",
                [](Plan & p) -> auto& { return p.fp32Gradients; }),
            Flag(
                "fusedUpdate",
                "Whether one kernel unscales and clips gradients and updates weights.",
                [](Plan & p) -> auto& { return p.fusedUpdate; }),
            Flag(
                "scatterGatherPipeline",
                "Whether each tensor rank sends its part of a stage boundary.",
                [](Plan & p) -> auto& { return p.scatterGatherPipeline; }),
            Flag(
                "embeddingsAsLayers",
                "Whether word embedding and loss count as layers when stages are dealt.",
                [](Plan & p) -> auto& { return p.embeddingsAsLayers; }),
            {"host.kernel",
             "CPU time to launch a kernel, the framework's own included.",
             PlanTime{[](Plan & p) -> auto& {return p.host.kernel;
}
}
}
, {"host.communication",
   "CPU time to launch a collective or transfer.",
   PlanTime{[](Plan & p) -> auto& {return p.host.communication;
}
}
}
,
    Flag(
        "host.syncBatches",
        "Whether the CPU waits before each forward pass.",
        [](Plan& p) -> auto& { return p.host.syncBatches; }),
    Flag(
        "host.syncTransfers",
        "Whether the CPU waits until pipeline transfers have ended.",
        [](Plan& p) -> auto& { return p.host.syncTransfers; }),
    Flag(
        "host.syncPasses",
        "Whether the CPU waits before and after each pass.",
        [](Plan& p) -> auto& { return p.host.syncPasses; }),
    Flag(
        "host.syncLayers", "Whether the CPU waits before each recomputed layer's passes.", [
        ](Plan& p) -> auto& { return p.host.syncLayers; })
}
;
}

} // namespace

std::vector<PlanKey>
PlanKeys()
{
    std::vector<PlanKey> keys = WayKeys();
    Append(keys, KernelKeys());
    Append(keys, ShardingKeys());
    Append(keys, EmbeddingKeys());
    Append(keys, FrameworkKeys());
    return keys;
}

} // namespace weir
