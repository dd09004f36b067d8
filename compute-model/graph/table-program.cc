// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/graph/table-program.h"

#include "compute-model/graph/optimizer-program.h"
#include "compute-model/graph/program-writer.h"
#include "compute-model/layers/embedding-bag-kernels.h"
#include "compute-model/layers/table-kernels.h"
#include "compute-model/plan/table-memory.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace weir
{

namespace
{

constexpr uint64_t BUFFER_COLUMNS = 1024; // of the matrix that a buffer is described as

/** Writes the program of one rank. */
class TableProgram : public GradientSink
{
  public:
    TableProgram(const TableSource& source,
                 uint32_t rank,
                 KernelTable& kernels,
                 StepProgram& program)
        : m_source(source),
          m_plan(source.plan),
          m_parameters(source.table.Parameters()),
          m_kernels(kernels),
          m_writer(kernels, program, source.plan.host),
          m_packer(m_plan.overlapGradients ? m_plan.bucket
                                           : Bytes(std::numeric_limits<int64_t>::max()))
    {
        if (!source.table.embeddings.empty())
        {
            m_lookup = LookupForward(kernels, source.table, source.places, rank, m_plan);
            m_update = LookupBackward(kernels, source.table, source.places, rank, m_plan);
        }
    }

    void Write()
    {
        OverParameters("gradient zero", MemoryKernel::Fill, 1);
        Flush("zero gradients");
        for (uint32_t pass = 0; pass < m_plan.MicroBatches(); pass++)
        {
            m_writer.SetPlace(pass, StepOp::NO_LAYER);
            Forward();
            Backward(pass + 1 == m_plan.MicroBatches());
        }
        for (const StepDependency& operation : m_reductions)
        {
            m_writer.Wait(operation);
        }
        m_writer.SetPlace(0, StepOp::NO_LAYER);
        const DenseOptimizer optimizer = DenseOptimizerOf(m_source.table, m_plan);
        OverParameters(optimizer.name, MemoryKernel::Elementwise, optimizer.operands);
        Flush("optimizer update");
    }

    bool OnReady(const GradientPiece& piece) override
    {
        const auto bucket = m_packer.Add(piece);
        if (bucket)
        {
            Reduce(*bucket);
        }
        return bucket.has_value();
    }

  private:
    void Forward()
    {
        const EmbeddingExchange& exchange = m_source.exchange;
        Issue(CollectiveOp::AllToAll, exchange.indices, "indices of the next batch");
        m_writer.Append(m_lookup);
        const auto pooled = Issue(CollectiveOp::AllToAll, exchange.pooled, "pooled rows");
        const auto sums =
            Issue(CollectiveOp::ReduceScatter, {exchange.split}, "partial sums of rows");
        m_writer.Append(m_source.segments.bottomForward);
        WaitForAll({pooled, sums});
        m_writer.Append(m_source.segments.topForward);
    }

    void Backward(bool isLast)
    {
        GradientSink* const ready = isLast && m_plan.data > 1 ? this : nullptr;
        const EmbeddingExchange& exchange = m_source.exchange;
        m_writer.Append(m_source.segments.topBackward, ready, GradientBytes(m_plan));
        const auto gradients =
            Issue(CollectiveOp::AllToAll, exchange.gradients, "gradients of pooled rows");
        const auto gathered =
            Issue(CollectiveOp::AllGather, {exchange.split}, "gradients of split tables' rows");
        m_writer.Append(m_source.segments.bottomBackward, ready, GradientBytes(m_plan));
        for (const GradientBucket& bucket : m_packer.TakeRest())
        {
            Reduce(bucket);
        }
        WaitForAll({gradients, gathered});
        m_writer.Append(m_update);
    }

    CommunicationRequest Request(CollectiveOp op, Bytes bytes, const char* label)
    {
        // All over one process group, and so on one stream, in the order of issue.
        CommunicationRequest request;
        request.stream = StreamKind::DataComm;
        request.slot = GroupSlot::Data;
        request.collective = op;
        request.bytes = bytes;
        request.label = m_kernels.Label(label);
        return request;
    }

    std::optional<StepDependency> Issue(CollectiveOp op,
                                        const ReplicaExchange& exchange,
                                        const char* label)
    {
        if (exchange.bytes == Bytes() || m_plan.data < 2)
        {
            return std::nullopt;
        }
        CommunicationRequest request = Request(op, exchange.bytes, label);
        request.category = TimeCategory::Embedding;
        request.traffic = exchange.traffic;
        return m_writer.Communicate(request);
    }

    void WaitForAll(const std::vector<std::optional<StepDependency>>& operations)
    {
        for (const auto& operation : operations)
        {
            if (operation)
            {
                m_writer.Wait(*operation);
            }
        }
    }

    void Reduce(const GradientBucket& bucket)
    {
        CommunicationRequest request =
            Request(CollectiveOp::AllReduce, bucket.bytes, "gradient bucket");
        request.category = TimeCategory::Data;
        m_reductions.push_back(m_writer.CommunicateAfter(request, bucket.position));
    }

    void OverParameters(const char* name, MemoryKernel kernel, double operands)
    {
        const auto rows =
            static_cast<uint64_t>(std::ceil(m_parameters / static_cast<double>(BUFFER_COLUMNS)));
        m_kernels.Memory(
            name, kernel, rows, BUFFER_COLUMNS, operands * BytesOf(Precision::Fp32), 0);
    }

    void Flush(const char* label)
    {
        Segment segment;
        segment.label = m_kernels.Label(label);
        segment.kernels = m_kernels.Close();
        m_writer.Append({segment});
    }

    const TableSource& m_source;
    const ParallelPlan& m_plan;
    double m_parameters; //!< dense ones
    KernelTable& m_kernels;
    ProgramWriter m_writer;
    SegmentSequence m_lookup;
    SegmentSequence m_update;
    GradientPacker m_packer; //!< without overlap all gradients wait for the last of them
    std::vector<StepDependency> m_reductions;
};

} // namespace

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

StepProgram
BuildTableProgram(const TableSource& source, uint32_t rank, KernelTable& kernels)
{
    StepProgram program;
    TableProgram(source, rank, kernels, program).Write();
    return program;
}

} // namespace weir
