// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/plan-keys.h"

#include "scenarios/readers/scenario-names.h"

namespace weir
{

namespace
{

// Products of two of these stay within 32 bits.
constexpr int64_t MAX_RANKS = 65535;
constexpr int64_t MAX_SAMPLES = 1 << 24; // of a step

PlanKey
Count(const char* path, const char* help, PlanPlace<uint32_t> at, int64_t most = MAX_RANKS)
{
    return {path, help, PlanCount{at, 1, most}};
}

/** A count that may be zero. */
PlanKey
CountOrNone(const char* path, const char* help, PlanPlace<uint32_t> at)
{
    return {path, help, PlanCount{at, 0, MAX_RANKS}};
}

PlanKey
Flag(const char* path, const char* help, PlanPlace<bool> at)
{
    return {path, help, PlanFlag{at}};
}

PlanKey
Number(const char* path, const char* help, PlanPlace<double> at, double least, double most)
{
    return {path, help, PlanNumber{at, least, most}};
}

PlanKey
Size(const char* path, const char* help, PlanPlace<Bytes> at)
{
    return {path, help, PlanSize{at}};
}

PlanKey
Duration(const char* path, const char* help, PlanPlace<Time> at)
{
    return {path, help, PlanTime{at}};
}

/** @param at from a plan to its E, by reference. */
template <typename E, typename At>
PlanKey
Choice(const char* path, const char* help, const NamedChoices<E>& choices, At at)
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

/** How the model and a step's samples are distributed over ranks. */
std::vector<PlanKey>
DegreeKeys()
{
    return {
        Count("tensor", "Tensor-parallel ranks.", [](Plan& p) -> uint32_t& { return p.tensor; }),
        Count("pipeline", "Pipeline stages.", [](Plan& p) -> uint32_t& { return p.pipeline; }),
        Count("data", "Data-parallel replicas.", [](Plan& p) -> uint32_t& { return p.data; }),
        Count("context",
              "Ranks that share a sequence.",
              [](Plan& p) -> uint32_t& { return p.context; }),
        Choice("contextExchange",
               "How they see each other's keys and values: ring, all-gather or pieces.",
               ContextExchangeNames(),
               [](Plan& p) -> ContextExchange& { return p.contextExchange; }),
        Count("expert",
              "Ranks that share the experts of a layer.",
              [](Plan& p) -> uint32_t& { return p.expert; }),
        CountOrNone("expertTensor",
                    "Ranks that share an expert; 0: as many as tensor.",
                    [](Plan& p) -> uint32_t& { return p.expertTensor; }),
        Flag("sequenceParallel",
             "Whether tensor parallelism also splits the sequence of norms and dropouts.",
             [](Plan& p) -> bool& { return p.sequenceParallel; }),
        Choice("schedule",
               "Of the pipeline: 1f1b, interleaved, gpipe, zb-h1, zb-1p or zb-2p.",
               ScheduleNames(),
               [](Plan& p) -> PipelineScheduleKind& { return p.schedule; }),
        Count("virtualStages",
              "Model chunks of a stage; more than 1 only when interleaved.",
              [](Plan& p) -> uint32_t& { return p.virtualStages; }),
        Count(
            "microBatch",
            "Samples of one micro-batch.",
            [](Plan& p) -> uint32_t& { return p.microBatch; },
            MAX_RANKS + 1),
        Count(
            "globalBatch",
            "Samples of one step, over all replicas.",
            [](Plan& p) -> uint32_t& { return p.globalBatch; },
            MAX_SAMPLES)};
}

/** How kernels and communication go. */
std::vector<PlanKey>
KernelKeys()
{
    return {Choice("recomputation",
                   "In backward: none, selective (attention cores), full, needed or operators.",
                   RecomputationNames(),
                   [](Plan& p) -> Recomputation& { return p.recomputation; }),
            Choice("attention",
                   "fused (one flash-attention kernel) or unfused.",
                   AttentionNames(),
                   [](Plan& p) -> AttentionKind& { return p.attention; }),
            Number(
                "attentionSpeed",
                "Of the fused kernel over the one that the GPU's figures are of.",
                [](Plan& p) -> double& { return p.attentionSpeed; },
                0.01,
                100),
            Flag("overlapTensor",
                 "Whether kernels run beside tensor-parallel communication.",
                 [](Plan& p) -> bool& { return p.overlapTensor; }),
            Flag("splitProducts",
                 "Whether products go beside gathers and scatterings of their operands.",
                 [](Plan& p) -> bool& { return p.splitProducts; }),
            Flag("overlapGradients",
                 "Whether data-parallel gradients go in buckets during backward.",
                 [](Plan& p) -> bool& { return p.overlapGradients; }),
            Size("bucket",
                 "Gradient bytes of a bucket when overlapped.",
                 [](Plan& p) -> Bytes& { return p.bucket; }),
            Flag("distributedOptimizer",
                 "Whether replicas share the optimizer's state (ZeRO-1).",
                 [](Plan& p) -> bool& { return p.distributedOptimizer; })};
}

std::vector<PlanKey>
ShardingKeys()
{
    return {Choice("dataSharding.state",
                   "What replicas distribute: none, optimizer, gradients or full.",
                   ShardedStateNames(),
                   [](Plan& p) -> ShardedState& { return p.sharding.state; }),
            CountOrNone("dataSharding.ranks",
                        "Neighbors that hold one copy together; 0: all replicas.",
                        [](Plan& p) -> uint32_t& { return p.sharding.ranks; }),
            Flag("dataSharding.reshard",
                 "Whether weights are given up after a forward pass.",
                 [](Plan& p) -> bool& { return p.sharding.reshard; }),
            CountOrNone("dataSharding.prefetch",
                        "Units whose weights are gathered ahead.",
                        [](Plan& p) -> uint32_t& { return p.sharding.prefetch; }),
            Flag("dataSharding.everyPass",
                 "Whether gradients are reduced after each micro-batch.",
                 [](Plan& p) -> bool& { return p.sharding.everyPass; }),
            Flag("dataSharding.scatter",
                 "Whether each rank gets its part of the gradients only.",
                 [](Plan& p) -> bool& { return p.sharding.scatter; }),
            Flag("dataSharding.overlapGather",
                 "Whether updated weights are gathered beside the next forward pass.",
                 [](Plan& p) -> bool& { return p.sharding.overlapGather; }),
            Flag("dataSharding.perParameter",
                 "Whether tensors are copied between buffers and parameters.",
                 [](Plan& p) -> bool& { return p.sharding.perParameter; })};
}

std::vector<PlanKey>
EmbeddingKeys()
{
    constexpr int64_t MAX_WIDTH = 65536; // of a row
    return {Choice("embeddings.placement",
                   "How embedding tables lie: tables, rows or columns.",
                   EmbeddingPlacementNames(),
                   [](Plan& p) -> EmbeddingPlacement& { return p.embeddings.placement; }),
            Choice("embeddings.balance",
                   "What tables are distributed by: lookups or size.",
                   EmbeddingBalanceNames(),
                   [](Plan& p) -> EmbeddingBalance& { return p.embeddings.balance; }),
            Size("embeddings.splitAbove",
                 "Larger tables go by rows.",
                 [](Plan& p) -> Bytes& { return p.embeddings.splitAbove; }),
            Size("embeddings.splitColumnsAbove",
                 "Larger tables go by columns.",
                 [](Plan& p) -> Bytes& { return p.embeddings.splitColumnsAbove; }),
            Count(
                "embeddings.columnWidth",
                "Columns of a part of a table that goes by columns.",
                [](Plan& p) -> uint32_t& { return p.embeddings.columnWidth; },
                MAX_WIDTH),
            Choice("embeddings.optimizer",
                   "Of embedding rows: sgd, rowwise-adagrad or adagrad.",
                   EmbeddingOptimizerNames(),
                   [](Plan& p) -> EmbeddingOptimizer& { return p.embeddings.optimizer; }),
            Flag("embeddings.exchangeIndices",
                 "Whether ranks send the indices of their samples to where the rows are.",
                 [](Plan& p) -> bool& { return p.embeddings.exchangeIndices; })};
}

std::vector<PlanKey>
FrameworkKeys()
{
    return {
        Choice("fusion",
               "How many kernels stand between products: eager, kernels or compiled.",
               KernelFusionNames(),
               [](Plan& p) -> KernelFusion& { return p.fusion; }),
        Choice("loss",
               "How the loss is computed: default (as fusion has it), vocabulary-parallel, "
               "log-softmax or in-place.",
               LossNames(),
               [](Plan& p) -> LossKernels& { return p.loss; }),
        Count("recomputeEvery",
              "Of so many layers one is recomputed.",
              [](Plan& p) -> uint32_t& { return p.recomputeEvery; }),
        Flag("fp32Gradients",
             "Whether gradients are kept and reduced in 4 bytes.",
             [](Plan& p) -> bool& { return p.fp32Gradients; }),
        Flag("postValidation",
             "Whether stages update and go on before all agree on the gradient norm.",
             [](Plan& p) -> bool& { return p.postValidation; }),
        Flag("fusedUpdate",
             "Whether one kernel unscales and clips gradients and updates weights.",
             [](Plan& p) -> bool& { return p.fusedUpdate; }),
        Flag("scatterGatherPipeline",
             "Whether each tensor rank sends its part of a stage boundary.",
             [](Plan& p) -> bool& { return p.scatterGatherPipeline; }),
        Flag("embeddingsAsLayers",
             "Whether word embedding and loss count as layers when layers are assigned to stages.",
             [](Plan& p) -> bool& { return p.embeddingsAsLayers; }),
        Duration("host.kernel",
                 "CPU time to launch a kernel, the framework's own included.",
                 [](Plan& p) -> Time& { return p.host.kernel; }),
        Duration("host.communication",
                 "CPU time to launch a collective or transfer.",
                 [](Plan& p) -> Time& { return p.host.communication; }),
        Flag("host.syncBatches",
             "Whether the CPU waits before each forward pass.",
             [](Plan& p) -> bool& { return p.host.syncBatches; }),
        Flag("host.syncTransfers",
             "Whether the CPU waits until pipeline transfers have ended.",
             [](Plan& p) -> bool& { return p.host.syncTransfers; }),
        Flag("host.syncPasses",
             "Whether the CPU waits before and after each pass.",
             [](Plan& p) -> bool& { return p.host.syncPasses; }),
        Flag("host.syncLayers",
             "Whether the CPU waits before each recomputed layer's passes.",
             [](Plan& p) -> bool& { return p.host.syncLayers; })};
}

} // namespace

std::string
PlanKey::Map() const
{
    const std::size_t dot = path.find('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string
PlanKey::Name() const
{
    return path.substr(path.find('.') + 1); // of the whole path when there is no dot
}

std::vector<PlanKey>
PlanKeys()
{
    std::vector<PlanKey> keys = DegreeKeys();
    Append(keys, KernelKeys());
    Append(keys, ShardingKeys());
    Append(keys, EmbeddingKeys());
    Append(keys, FrameworkKeys());
    return keys;
}

} // namespace weir
