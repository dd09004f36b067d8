// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/table-step.h"

#include "compute-model/graph/table-program.h"
#include "compute-model/kernels/clock-spread.h"
#include "compute-model/layers/embedding-bag-kernels.h"
#include "compute-model/layers/step-load.h"
#include "compute-model/plan/plan-refusal.h"
#include "compute-model/plan/rank-groups.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

/**
 * What convolutions compute in: tf32 for 32-bit activations where the GPU has it, as PyTorch lets
 * cuDNN choose (torch.backends.cudnn.allow_tf32), while linear layers keep fp32.
 */
Precision
ConvolutionPrecision(const ParallelPlan& plan, const Gpu& gpu)
{
    const bool hasTf32 =
        gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(Precision::Tf32)] > 0;
    return plan.precision == Precision::Fp32 && hasTf32 ? Precision::Tf32 : plan.precision;
}

/** The load of the passes; see StepLoad. */
double
LoadOf(const LayerTable& table, const ParallelPlan& plan, const TablePlaces& places, const Gpu& gpu)
{
    StepGraph graph;
    const KernelTimer timer(gpu);
    const Precision convolutions = ConvolutionPrecision(plan, gpu);
    KernelTable kernels(graph, timer, plan.host.kernel);
    const TableSegments segments(kernels, table, plan, convolutions);
    std::vector<SegmentSequence> passes{
        segments.bottomForward, segments.topForward, segments.topBackward, segments.bottomBackward};
    if (!table.embeddings.empty())
    {
        passes.push_back(LookupForward(kernels, table, places, 0, plan));
        passes.push_back(LookupBackward(kernels, table, places, 0, plan));
    }
    Time busy;
    Time host;
    LoadMeter meter(gpu);
    for (const SegmentSequence& pass : passes)
    {
        for (const Segment& segment : pass)
        {
            busy += segment.kernels.duration;
            host += segment.kernels.host;
        }
    }
    for (const KernelRecord& kernel : graph.kernels)
    {
        meter.Add(kernel, 1);
    }
    return meter.Load(std::max(busy, host));
}

/** By table: the first that is like it. */
std::vector<uint32_t>
FirstLike(const std::vector<EmbeddingTable>& tables)
{
    const auto isSame = [](const RowClass& a, const RowClass& b) {
        return a.rows == b.rows && a.probability == b.probability;
    };
    std::vector<uint32_t> first;
    for (const EmbeddingTable& one : tables)
    {
        const auto found = std::find_if(tables.begin(), tables.end(), [&](const auto& other) {
            return other.rows == one.rows && other.dim == one.dim && other.pooling == one.pooling &&
                   other.zipf == one.zipf && other.observed == one.observed &&
                   std::equal(other.classes.begin(),
                              other.classes.end(),
                              one.classes.begin(),
                              one.classes.end(),
                              isSame);
        });
        first.push_back(static_cast<uint32_t>(found - tables.begin()));
    }
    return first;
}

/** Writes the programs: one for all ranks whose tables are alike. */
void
WritePrograms(const TableSource& source, KernelTable& kernels, StepGraph& graph)
{
    const std::vector<uint32_t> like = FirstLike(source.table.embeddings);
    std::map<std::vector<uint32_t>, uint32_t> known; // by the tables of a rank
    for (uint32_t rank = 0; rank < source.plan.Ranks(); rank++)
    {
        std::vector<uint32_t> held;
        for (const uint32_t one : source.places.whole[rank])
        {
            held.push_back(like[one]);
        }
        const auto [entry, isNew] =
            known.try_emplace(std::move(held), static_cast<uint32_t>(graph.programs.size()));
        if (isNew)
        {
            graph.programs.push_back(BuildTableProgram(source, rank, kernels));
            graph.programStage.push_back(0);
        }
        graph.rankProgram.push_back(entry->second);
    }
}

} // namespace

void
CheckTablePlan(const LayerTable& table, const ParallelPlan& plan)
{
    for (const auto& [field, degree] : {std::pair("tensor", plan.tensor),
                                        std::pair("tensorShape", plan.SampleParts()),
                                        std::pair("pipeline", plan.pipeline),
                                        std::pair("context", plan.context),
                                        std::pair("expert", plan.expert),
                                        std::pair("virtualStages", plan.virtualStages)})
    {
        if (degree != 1)
        {
            RefusePlan(
                field, degree, "1 for " + table.name + ", a table of layers: it has replicas only");
        }
    }
    if (plan.data == 0 || plan.microBatch == 0 || plan.globalBatch == 0)
    {
        RefusePlan("data", plan.data, "at least 1, as microBatch and globalBatch");
    }
    const uint64_t samples = uint64_t{plan.microBatch} * plan.data;
    if (plan.globalBatch % samples != 0)
    {
        RefusePlan("microBatch * data",
                   samples,
                   "a divisor of globalBatch = " + std::to_string(plan.globalBatch));
    }
    if (plan.Sharded() != ShardedState::None)
    {
        throw std::invalid_argument(
            std::string(plan.distributedOptimizer
                            ? "distributedOptimizer: found true, expected false"
                            : "dataSharding: found shards, expected none") +
            " for " + table.name + ", a table of layers: its replicas are whole");
    }
    if (plan.sequenceParallel || plan.embeddingsAsLayers)
    {
        RefusePlan(plan.sequenceParallel ? "sequenceParallel" : "embeddingsAsLayers",
                   1,
                   "false for a table of layers");
    }
    if (plan.recomputation != Recomputation::None)
    {
        throw std::invalid_argument("recomputation: found some, expected none for " + table.name +
                                    ", a table of layers");
    }
    if (plan.overlapGradients && plan.data > 1 && plan.bucket <= Bytes())
    {
        RefusePlan("bucket", 0, "more than 0 bytes when gradients overlap");
    }
    if (plan.embeddings.columnWidth == 0)
    {
        RefusePlan("embeddings", 0, "a columnWidth of at least 1");
    }
    const LayerTable parts = InColumnParts(table, plan);
    if (!table.embeddings.empty() && PlaceTables(parts, plan).split.empty() &&
        plan.data > parts.embeddings.size())
    {
        const bool isCut = parts.embeddings.size() > table.embeddings.size();
        RefusePlan("data",
                   plan.data,
                   "at most the " + std::to_string(parts.embeddings.size()) +
                       (isCut ? " parts of the" : "") + " embedding tables of " + table.name +
                       ", or embeddings by rows" + (isCut ? "" : " or columns"));
    }
}

StepGraph
BuildTableStep(const LayerTable& whole, const ParallelPlan& plan, const Gpu& gpu)
{
    CheckTablePlan(whole, plan);
    const LayerTable table = InColumnParts(whole, plan);
    StepGraph graph;
    WriteRankGroups(Transformer(), plan, graph);
    const TablePlaces places = PlaceTables(table, plan);
    const Gpu warm = UnderLoad(SlowestOf(gpu, plan.Ranks()), LoadOf(table, plan, places, gpu));
    const KernelTimer timer(warm, ClockRegime::Sustained);
    KernelTable kernels(graph, timer, plan.host.kernel);
    const TableSegments segments(kernels, table, plan, ConvolutionPrecision(plan, gpu));
    const EmbeddingExchange exchange = ExchangeOf(table, places, plan, graph);
    WritePrograms({table, plan, segments, places, exchange}, kernels, graph);
    return graph;
}

} // namespace weir
