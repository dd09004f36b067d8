// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/step-builder.h"

#include "compute-model/graph/program-writer.h"
#include "compute-model/kernels/tensor-clock.h"
#include "compute-model/layers/segment-writer.h"
#include "compute-model/layers/step-segments.h"
#include "compute-model/layers/table-kernels.h"
#include "compute-model/plan/rank-groups.h"
#include "compute-model/plan/table-placement.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace weir
{
namespace
{

/** An all-to-all over the replicas; none if it has zero bytes. */
struct ReplicaExchange
{
    Bytes bytes;
    uint16_t traffic{StepOp::EVEN};
};

/** Communication of embedding tables for one micro-batch of each rank. */
struct EmbeddingExchange
{
    ReplicaExchange indices; //!< from the samples' ranks to the rows' ranks
    ReplicaExchange
        pooled; //!< sums of rows of whole tables, from the tables' ranks to the samples' ranks
    ReplicaExchange gradients; //!< gradients of these sums, in the reverse direction
    Bytes split; //!< bytes of the partial sums of split tables, which are reduce-scattered; their
                 //!< gradients are all-gathered
};

/** Direction of a rank's bytes in an all-to-all. */
enum class Side : uint8_t
{
    Gives,
    Takes
};

/** Every rank sends to, or receives from, every rank the bytes of its entry in @p perRank. */
ReplicaExchange
Exchange(const std::vector<Bytes>& perRank, Side side, StepGraph& graph)
{
    const std::size_t ranks = perRank.size();
    ReplicaExchange exchange;
    const Bytes max = *std::max_element(perRank.begin(), perRank.end());
    if (ranks < 2 || max == Bytes())
    {
        return exchange;
    }
    if (std::all_of(perRank.begin(), perRank.end(), [&](Bytes one) { return one == max; }))
    {
        exchange.bytes = max * static_cast<int64_t>(ranks);
        return exchange;
    }
    TrafficParts parts(ranks);
    for (std::size_t from = 0; from < ranks; from++)
    {
        parts[from] = side == Side::Gives ? std::vector<Bytes>(ranks, perRank[from]) : perRank;
        Bytes row;
        for (const Bytes part : parts[from])
        {
            row += part;
        }
        exchange.bytes = std::max(exchange.bytes, row);
    }
    exchange.traffic = static_cast<uint16_t>(graph.traffics.size());
    graph.traffics.push_back(std::move(parts));
    return exchange;
}

/** Rows that a sample looks up in @p tables. */
double
LookupsOf(const LayerTable& table, const std::vector<uint32_t>& tables)
{
    double lookups = 0;
    for (const uint32_t i : tables)
    {
        lookups += table.embeddings[i].pooling;
    }
    return lookups;
}

/**
 * Exchanges under @p plan: a rank with tables of S pooled elements sends S elements per sample of a
 * micro-batch to each rank. Unequal parts are written into @p graph. Complexity O(ranks^2).
 */
EmbeddingExchange
ExchangeOf(const LayerTable& table,
           const TablePlacement& placement,
           const ParallelPlan& plan,
           StepGraph& graph)
{
    constexpr double INDEX_BYTES = 8;  // int64
    constexpr double LENGTH_BYTES = 4; // int32: rows of a bag
    const double samples = plan.microBatch;
    const double element = ActivationBytes(plan.precision);
    std::vector<Bytes> pooled;
    std::vector<Bytes> indices;
    for (const auto& whole : placement.whole)
    {
        pooled.push_back(
            Bytes::Nearest(samples * static_cast<double>(PooledElements(table, whole)) * element));
        const double lookups =
            LookupsOf(table, whole) + LookupsOf(table, placement.split) / plan.data;
        const double bags = static_cast<double>(whole.size() + placement.split.size());
        indices.push_back(Bytes::Nearest(samples * (lookups * INDEX_BYTES + bags * LENGTH_BYTES)));
    }
    EmbeddingExchange exchange;
    exchange.pooled = Exchange(pooled, Side::Gives, graph);
    exchange.gradients = Exchange(pooled, Side::Takes, graph);
    if (plan.embeddings.exchangeIndices)
    {
        exchange.indices = Exchange(indices, Side::Takes, graph);
    }
    exchange.split = Bytes::Nearest(samples * plan.data * element *
                                    static_cast<double>(PooledElements(table, placement.split)));
    return exchange;
}

/** The dense passes of a table of layers, shared by all ranks. */
struct TableSegments
{
    /** @param convolutions precision of convolutions, as in TableForward */
    TableSegments(KernelTable& kernels,
                  const LayerTable& table,
                  const ParallelPlan& plan,
                  Precision convolutions);

    SegmentSequence
        bottomForward; //!< layers before the embedding tables join; without tables, all layers
    SegmentSequence topForward;  //!< layers from the join on
    SegmentSequence topBackward; //!< layers from the last one to the join
    SegmentSequence bottomBackward;
};

/** Inputs of the programs of a table's step. */
struct TableSource
{
    const LayerTable& table;
    const ParallelPlan& plan;
    const TableSegments& segments;
    const TablePlacement& placement;
    const EmbeddingExchange& exchange;
};

/** Writes the program of one rank. */
class TableProgram : public GradientBuckets
{
  public:
    TableProgram(const TableSource& source,
                 uint32_t rank,
                 KernelTable& kernels,
                 StepProgram& program)
        : GradientBuckets(source.plan.overlapGradients
                              ? source.plan.bucket
                              : Bytes(std::numeric_limits<int64_t>::max())), // one holds them all
          m_source(source),
          m_plan(source.plan),
          m_parameters(source.table.Parameters()),
          m_kernels(kernels),
          m_writer(kernels, program, source.plan.host)
    {
        if (!source.table.embeddings.empty())
        {
            m_lookup = LookupForward(kernels, source.table, source.placement, rank, m_plan);
            m_update = LookupBackward(kernels, source.table, source.placement, rank, m_plan);
        }
    }

    void Write()
    {
        OverParameters("gradient zero", MemoryKernel::Fill, 1);
        m_writer.AppendKernels("zero gradients");
        for (uint32_t pass = 0; pass < m_plan.MicroBatches(); pass++)
        {
            m_writer.SetLayer(pass, StepOp::NO_LAYER);
            Forward();
            Backward(pass + 1 == m_plan.MicroBatches());
        }
        m_writer.WaitForAll(m_reductions);
        m_writer.SetLayer(0, StepOp::NO_LAYER);
        const DenseOptimizer optimizer = DenseOptimizerOf(m_source.table, m_plan);
        OverParameters(optimizer.name, MemoryKernel::Elementwise, optimizer.operands);
        m_writer.AppendKernels("optimizer update");
    }

  private:
    void Forward()
    {
        const EmbeddingExchange& exchange = m_source.exchange;
        std::vector<StepDependency> indices; // the next step needs them
        Issue(CollectiveOp::AllToAll, exchange.indices, "indices of the next batch", indices);
        m_writer.Append(m_lookup);
        std::vector<StepDependency> rows;
        Issue(CollectiveOp::AllToAll, exchange.pooled, "pooled rows", rows);
        Issue(CollectiveOp::ReduceScatter, {exchange.split}, "partial sums of rows", rows);
        m_writer.Append(m_source.segments.bottomForward);
        m_writer.WaitForAll(rows);
        m_writer.Append(m_source.segments.topForward);
    }

    void Backward(bool isLast)
    {
        GradientBuckets* const ready = isLast && m_plan.data > 1 ? this : nullptr;
        const EmbeddingExchange& exchange = m_source.exchange;
        m_writer.Append(m_source.segments.topBackward, ready, GradientBytes(m_plan));
        std::vector<StepDependency> rows;
        Issue(CollectiveOp::AllToAll, exchange.gradients, "gradients of pooled rows", rows);
        Issue(CollectiveOp::AllGather, {exchange.split}, "gradients of split tables' rows", rows);
        m_writer.Append(m_source.segments.bottomBackward, ready, GradientBytes(m_plan));
        ReduceRest();
        m_writer.WaitForAll(rows);
        m_writer.Append(m_update);
    }

    /** Issues an exchange among the replicas, if any, and appends it to @p issued. */
    void Issue(CollectiveOp op,
               const ReplicaExchange& exchange,
               const char* label,
               std::vector<StepDependency>& issued)
    {
        if (exchange.bytes == Bytes() || m_plan.data < 2)
        {
            return;
        }
        CommunicationRequest request =
            DataRequest(op, GroupSlot::Data, exchange.bytes, m_kernels.Label(label));
        request.category = TimeCategory::Embedding;
        request.traffic = exchange.traffic;
        issued.push_back(m_writer.Communicate(request));
    }

    void Reduce(const Gradients& bucket) override
    {
        const CommunicationRequest request = DataRequest(CollectiveOp::AllReduce,
                                                         GroupSlot::Data,
                                                         bucket.bytes,
                                                         m_kernels.Label("gradient bucket"));
        m_reductions.push_back(
            m_writer.CommunicateAfter(request, {StreamKind::Compute, bucket.position}));
    }

    void OverParameters(const char* name, MemoryKernel kernel, double operands)
    {
        WriteBufferKernel(m_kernels, name, kernel, m_parameters, operands * FP32_BYTES);
    }

    const TableSource& m_source;
    const ParallelPlan& m_plan;
    double m_parameters; //!< of the dense layers
    KernelTable& m_kernels;
    ProgramWriter m_writer;
    SegmentSequence m_lookup;
    SegmentSequence m_update;
    std::vector<StepDependency> m_reductions;
};

TableSegments::TableSegments(KernelTable& kernels,
                             const LayerTable& table,
                             const ParallelPlan& plan,
                             Precision convolutions)
{
    const std::size_t join = table.JoinPosition();
    const LayerRange bottom{0, join};
    const LayerRange top{join, table.layers.size()};
    bottomForward = TableForward(kernels, table, bottom, plan, convolutions);
    topForward = TableForward(kernels, table, top, plan, convolutions);
    topBackward = TableBackward(kernels, table, top, plan, convolutions);
    bottomBackward = TableBackward(kernels, table, bottom, plan, convolutions);
}

/**
 * Precision of convolutions: tf32 for 32-bit activations where the GPU has it, as PyTorch lets
 * cuDNN choose (torch.backends.cudnn.allow_tf32), while linear layers keep fp32.
 */
Precision
ConvolutionPrecision(const ParallelPlan& plan, const Gpu& gpu)
{
    const bool hasTf32 =
        gpu.tensorFlopsPerSmPerClock[static_cast<std::size_t>(Precision::Tf32)] > 0;
    return plan.precision == Precision::Fp32 && hasTf32 ? Precision::Tf32 : plan.precision;
}

/** Load of the passes; see LoadOfPasses. */
double
TableLoad(const LayerTable& table,
          const ParallelPlan& plan,
          const TablePlacement& placement,
          const Gpu& gpu)
{
    KernelRecords records;
    KernelTable kernels(records, KernelTimer(gpu), plan.host.kernel);
    const TableSegments segments(kernels, table, plan, ConvolutionPrecision(plan, gpu));
    std::vector<PassCount> passes{{&segments.bottomForward, 1},
                                  {&segments.topForward, 1},
                                  {&segments.topBackward, 1},
                                  {&segments.bottomBackward, 1}};
    SegmentSequence lookup;
    SegmentSequence update;
    if (!table.embeddings.empty())
    {
        lookup = LookupForward(kernels, table, placement, 0, plan);
        update = LookupBackward(kernels, table, placement, 0, plan);
        passes.insert(passes.end(), {{&lookup, 1}, {&update, 1}});
    }
    return LoadOfPasses(passes, records, gpu);
}

/** By table: index of the first equal table. */
std::vector<uint32_t>
FirstEqual(const std::vector<EmbeddingTable>& tables)
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

/** Writes the programs: one for all ranks with equal tables. */
void
WritePrograms(const TableSource& source, KernelTable& kernels, StepGraph& graph)
{
    const std::vector<uint32_t> like = FirstEqual(source.table.embeddings);
    std::map<std::vector<uint32_t>, uint32_t> known; // by the tables of a rank
    for (uint32_t rank = 0; rank < source.plan.Ranks(); rank++)
    {
        std::vector<uint32_t> held;
        for (const uint32_t one : source.placement.whole[rank])
        {
            held.push_back(like[one]);
        }
        const auto [entry, isNew] =
            known.try_emplace(std::move(held), static_cast<uint32_t>(graph.programs.size()));
        if (isNew)
        {
            TableProgram(source, rank, kernels, graph.programs.emplace_back()).Write();
            graph.programStage.push_back(0);
        }
        graph.rankProgram.push_back(entry->second);
    }
}

} // namespace

void
CheckTablePlan(const LayerTable& table, const ParallelPlan& plan)
{
    const std::string ofTable = " for " + table.name + ", a table of layers";
    for (const auto& [field, degree] : {std::pair("tensor", plan.tensor),
                                        std::pair("tensorShape", plan.SampleParts()),
                                        std::pair("pipeline", plan.pipeline),
                                        std::pair("context", plan.context),
                                        std::pair("expert", plan.expert),
                                        std::pair("virtualStages", plan.virtualStages)})
    {
        RequirePlan(
            degree == 1, field, degree, "1" + ofTable + ", which supports only data parallelism");
    }
    RequirePlan(plan.data > 0 && plan.microBatch > 0 && plan.globalBatch > 0,
                "data",
                plan.data,
                "at least 1, and the same for microBatch and globalBatch");
    const uint64_t samples = uint64_t{plan.microBatch} * plan.data;
    RequirePlan(plan.globalBatch % samples == 0,
                "microBatch * data",
                samples,
                "a divisor of globalBatch = " + std::to_string(plan.globalBatch));
    const bool isFlag = plan.distributedOptimizer;
    RequirePlan(plan.Sharded() == ShardedState::None,
                isFlag ? "distributedOptimizer" : "dataSharding",
                isFlag ? "true" : "shards",
                (isFlag ? "false" : "none") + ofTable + ", whose replicas are not sharded");
    RequirePlan(!plan.sequenceParallel && !plan.embeddingsAsLayers,
                plan.sequenceParallel ? "sequenceParallel" : "embeddingsAsLayers",
                "true",
                "false for a table of layers");
    RequirePlan(plan.recomputation == Recomputation::None,
                "recomputation",
                "recomputation",
                "none" + ofTable);
    RequirePlan(!plan.overlapGradients || plan.data == 1 || plan.bucket > Bytes(),
                "bucket",
                0,
                "more than 0 bytes when gradients overlap");
    RequirePlan(plan.embeddings.columnWidth > 0, "embeddings", 0, "a columnWidth of at least 1");
    const LayerTable parts = SplitByColumns(table, plan);
    const bool isCut = parts.embeddings.size() > table.embeddings.size();
    RequirePlan(table.embeddings.empty() || !AssignTables(parts, plan).split.empty() ||
                    plan.data <= parts.embeddings.size(),
                "data",
                plan.data,
                "at most the " + std::to_string(parts.embeddings.size()) +
                    (isCut ? " parts of the" : "") + " embedding tables of " + table.name +
                    ", or embeddings split by rows" + (isCut ? "" : " or columns"));
}

StepGraph
BuildTableStep(const LayerTable& whole, const ParallelPlan& plan, const Gpu& gpu)
{
    CheckTablePlan(whole, plan);
    const LayerTable table = SplitByColumns(whole, plan);
    StepGraph graph;
    WriteRankGroups(Transformer(), plan, graph);
    const TablePlacement placement = AssignTables(table, plan);
    const Gpu warm =
        UnderLoad(SlowestOf(gpu, plan.Ranks()), TableLoad(table, plan, placement, gpu));
    const KernelTimer timer(warm, ClockRegime::Sustained);
    KernelTable kernels(graph, timer, plan.host.kernel);
    const TableSegments segments(kernels, table, plan, ConvolutionPrecision(plan, gpu));
    const EmbeddingExchange exchange = ExchangeOf(table, placement, plan, graph);
    WritePrograms({table, plan, segments, placement, exchange}, kernels, graph);
    return graph;
}

} // namespace weir
