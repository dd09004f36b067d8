// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/table-kernels.h"

#include "compute-model/kernels/embedding-time.h"
#include "compute-model/layers/convolution-kernels.h"
#include "compute-model/layers/linear-kernels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir
{

namespace
{

/** Look-ups of several tables of a rank in one kernel. */
struct LookupBatch
{
    std::string name;
    std::vector<EmbeddingLookup> tables;

    double Lookups() const
    {
        double sum = 0;
        for (const EmbeddingLookup& one : tables)
        {
            sum += static_cast<double>(one.shape.bags) * static_cast<double>(one.shape.pooling) /
                   one.shape.shards;
        }
        return sum;
    }

    double Rows() const
    {
        double sum = 0;
        for (const EmbeddingLookup& one : tables)
        {
            sum += one.indices.Rows() / one.shape.shards;
        }
        return sum;
    }
};

LookupBatch
BatchOf(const char* name,
        const LayerTable& table,
        const std::vector<uint32_t>& tables,
        const ParallelPlan& plan,
        uint32_t shards)
{
    LookupBatch batch{name, {}};
    for (const uint32_t i : tables)
    {
        const EmbeddingTable& one = table.embeddings[i];
        EmbeddingShape shape;
        shape.bags = uint64_t{plan.microBatch} * plan.data;
        shape.pooling = one.pooling;
        shape.dim = one.dim;
        shape.shards = shards;
        batch.tables.push_back(
            {IndexDistribution::Of(one), shape, RowStateBytes(one, plan.embeddings.optimizer)});
    }
    return batch;
}

/** Non-empty batches of a rank. */
std::vector<LookupBatch>
BatchesOf(const LayerTable& table,
          const TablePlacement& placement,
          uint32_t rank,
          const ParallelPlan& plan)
{
    std::vector<LookupBatch> batches;
    for (const LookupBatch& batch :
         {BatchOf("embedding tables", table, placement.whole[rank], plan, 1),
          BatchOf("embedding row shards", table, placement.split, plan, plan.data)})
    {
        if (!batch.tables.empty())
        {
            batches.push_back(batch);
        }
    }
    return batches;
}

/**
 * Writes the sort of look-ups by row: a radix sort of 8 bits per pass (CUB), which reads and writes
 * a 64-bit key and a 32-bit position per look-up.
 */
void
WriteSort(KernelTable& kernels, const LookupBatch& batch)
{
    constexpr double PASS_BITS = 8;
    constexpr double KEY_BYTES = 8;
    constexpr double POSITION_BYTES = 4;
    const double scatter = kernels.GetGpu().kernels.operators.sortPass;
    const auto lookups = static_cast<uint64_t>(std::ceil(batch.Lookups()));
    const auto passes =
        static_cast<uint32_t>(std::ceil(std::log2(std::max(2.0, batch.Rows())) / PASS_BITS));
    for (uint32_t pass = 0; pass < passes; pass++)
    {
        kernels.Memory(batch.name + " sort counts", MemoryKernel::Elementwise, {lookups, 1}, 0);
        kernels.Memory(batch.name + " sort offsets", MemoryKernel::Elementwise, {1, 1}, 0);
        kernels.Memory(batch.name + " sort",
                       MemoryKernel::Elementwise,
                       {lookups, 1},
                       2 * (KEY_BYTES + POSITION_BYTES) * scatter);
    }
}

} // namespace

SegmentSequence
LookupForward(KernelTable& kernels,
              const LayerTable& table,
              const TablePlacement& placement,
              uint32_t rank,
              const ParallelPlan& plan)
{
    SegmentWriter writer(kernels, plan);
    writer.Section("embedding look-up");
    for (const LookupBatch& batch : BatchesOf(table, placement, rank, plan))
    {
        kernels.EmbeddingForward(batch.name, batch.tables);
    }
    return writer.Take();
}

SegmentSequence
LookupBackward(KernelTable& kernels,
               const LayerTable& table,
               const TablePlacement& placement,
               uint32_t rank,
               const ParallelPlan& plan)
{
    const bool isExact = plan.embeddings.optimizer != EmbeddingOptimizer::Sgd;
    SegmentWriter writer(kernels, plan);
    writer.Section("embedding update");
    for (const LookupBatch& batch : BatchesOf(table, placement, rank, plan))
    {
        if (isExact)
        {
            WriteSort(kernels, batch);
        }
        kernels.EmbeddingUpdate(batch.name + " update", batch.tables, isExact);
    }
    return writer.Take();
}

namespace
{

/** Writes one layer that combines the vectors of a sample, for one micro-batch. */
class InteractionWriter
{
  public:
    InteractionWriter(SegmentWriter& writer, const TableLayer& layer)
        : m_writer(writer),
          m_figures(writer.GetGpu().kernels.operators),
          m_layer(layer),
          m_samples(writer.Plan().microBatch),
          m_width(layer.in.channels),
          m_vectors(layer.in.height),
          m_pairs(m_vectors * (m_vectors - 1) / 2)
    {
    }

    /**
     * Dot products of all pairs of a sample's vectors, appended to its first vector (Naumov et al.
     * 2019, arXiv 1906.00091, 2.1.2). PyTorch's eager mode: a GEMM of each sample's vectors with
     * themselves, the selection of its lower triangle, and a concatenation with the first vector.
     */
    void DotForward()
    {
        const std::string& name = m_layer.name;
        Gemm(name, m_vectors, m_vectors, m_width, GemmLayout::Tn);
        Pass(name + " triangle", m_vectors * m_vectors + m_pairs, m_figures.trianglePick);
        Pass(name + " concatenation", Out(), 2);
    }

    void DotBackward()
    {
        const std::string name = m_layer.name + " backward";
        Pass(name + " slices", Out(), 2);
        Pass(name + " zero", m_vectors * m_vectors, 1);
        Pass(name + " triangle", m_pairs, m_figures.trianglePutBytes / m_writer.ElementBytes());
        Gemm(name + " left", m_vectors, m_width, m_vectors, GemmLayout::Nn);
        Gemm(name + " right", m_width, m_vectors, m_vectors, GemmLayout::Nt);
        Pass(name + " sum", In(), 3 * m_figures.transposedSum);
        Pass(name + " first vector", m_width, 3);
    }

    /**
     * y = x0 * (W V x + b) + x over the concatenated vectors of a sample, V [rank, n], W [n, rank]
     * (Wang et al. 2021, DCN V2, equation 4). The elementwise kernels add the biases; in PyTorch's
     * eager mode the product and the sum are separate kernels. The layer's gradients are ready when
     * the backward pass ends.
     */
    void CrossForward()
    {
        WriteLinearForward(m_writer, Down());
        WriteLinearForward(m_writer, Up());
        Pass(m_layer.name + " product", In(), 3);
        Pass(m_layer.name + " sum", In(), 3);
    }

    void CrossBackward()
    {
        const std::string name = m_layer.name + " backward";
        Pass(name + " product", In(), 3);
        Pass(name + " first input product", In(), 3);
        Pass(name + " first input sum", In(), 3);
        m_writer.Memory(name + " bias gradient",
                        MemoryKernel::Reduction,
                        {m_samples, In()},
                        m_writer.ElementBytes());
        WriteInputGradient(m_writer, Up());
        WriteWeightGradient(m_writer, Up());
        WriteInputGradient(m_writer, Down());
        WriteWeightGradient(m_writer, Down());
        Pass(name + " sum", In(), 3);
    }

  private:
    /** Elements of a sample. */
    uint64_t In() const
    {
        return m_width * m_vectors;
    }

    uint64_t Out() const
    {
        return m_width + m_pairs;
    }

    LinearShape Down() const
    {
        return Linear(" down", In(), m_layer.rank, 0);
    }

    LinearShape Up() const
    {
        return Linear(" up", m_layer.rank, In(), 1);
    }

    /** @param biases 1 where the layer has a bias, else 0 */
    LinearShape Linear(const char* name, uint64_t in, uint64_t out, uint64_t biases) const
    {
        const double parameters = static_cast<double>(in + biases) * static_cast<double>(out);
        return {m_layer.name + name, m_samples, in, out, parameters};
    }

    void Gemm(const std::string& name, uint64_t m, uint64_t n, uint64_t k, GemmLayout layout)
    {
        m_writer.Gemm(name, {m, n, k, m_samples, m_writer.Plan().precision, layout});
    }

    void Pass(const std::string& name, uint64_t elements, double operands)
    {
        m_writer.Elementwise(name, {m_samples, elements}, operands);
    }

    SegmentWriter& m_writer;
    const OperatorCalibration& m_figures;
    const TableLayer& m_layer;
    uint64_t m_samples; //!< of a micro-batch
    uint64_t m_width;   //!< of a vector
    uint64_t m_vectors; //!< of a sample
    uint64_t m_pairs;   //!< of vectors
};

constexpr double INDEX_BYTES = 8; // of the position of a maximum (int64)

/**
 * Plan of tables: PyTorch's own layers, one kernel per operation, whatever the fusion of @p plan.
 */
ParallelPlan
AsPyTorch(const ParallelPlan& plan)
{
    ParallelPlan own = plan;
    own.fusion = KernelFusion::Eager;
    return own;
}

/** Writes the layers of a table for one micro-batch. */
class TableWriter : public SegmentWriter
{
  public:
    TableWriter(KernelTable& kernels, const ParallelPlan& plan, Precision convolutions)
        : SegmentWriter(kernels, plan),
          m_figures(GetGpu().kernels.operators),
          m_convolutions(convolutions),
          m_samples(plan.microBatch)
    {
    }

    void Forward(const TableLayer& layer)
    {
        switch (layer.op)
        {
        case TableOp::Convolution:
            WriteConvolutionForward(*this, layer, m_convolutions);
            if (layer.bias)
            {
                Pass(layer.name + " bias", layer.out.Elements(), 2);
            }
            break;
        case TableOp::Linear:
            WriteLinearForward(*this, Matrix(layer));
            break;
        case TableOp::Add:
            Pass(layer.name, layer.out.Elements(), 3);
            break;
        case TableOp::Embeddings:
            Pass(layer.name + " concatenation", layer.out.Elements(), 2);
            break;
        case TableOp::DotInteraction:
            InteractionWriter(*this, layer).DotForward();
            break;
        case TableOp::Cross:
            InteractionWriter(*this, layer).CrossForward();
            break;
        default:
            OneKernel(layer, layer.name, false);
        }
    }

    /**
     * @param forked elements of a sample where an addition's two branches fork, and where their
     *        gradients are summed
     */
    void Backward(const TableLayer& layer, bool isFirst, uint64_t forked)
    {
        const std::string name = layer.name + " backward";
        switch (layer.op)
        {
        case TableOp::Convolution:
            WriteConvolutionBackward(*this, layer, m_convolutions, isFirst);
            if (layer.bias)
            {
                Pass(layer.name + " bias gradient", layer.out.Elements(), 1);
            }
            break;
        case TableOp::Linear:
            if (!isFirst)
            {
                WriteInputGradient(*this, Matrix(layer));
            }
            if (layer.bias)
            {
                Memory(layer.name + " bias gradient",
                       MemoryKernel::Reduction,
                       {m_samples, layer.out.channels},
                       ElementBytes() * m_figures.columnSum);
            }
            WriteWeightGradient(*this, Matrix(layer));
            return;        // WriteWeightGradient has declared its gradients ready
        case TableOp::Add: // both branches take the same gradient; theirs are summed at the fork
            Pass(name + " sum of sides", forked, 3);
            break;
        case TableOp::Embeddings:
            if (Plan().data > 1) // slices of one gradient are copied into the send buffer
            {
                Pass(name + " slices", layer.out.Elements() - layer.in.Elements(), 2);
            }
            break;
        case TableOp::DotInteraction:
            InteractionWriter(*this, layer).DotBackward();
            break;
        case TableOp::Cross:
            InteractionWriter(*this, layer).CrossBackward();
            return;
        default:
            OneKernel(layer, name, true);
        }
        GradientsReady(layer.Parameters());
    }

  private:
    /** A layer that is one kernel, forward and backward. */
    void OneKernel(const TableLayer& layer, const std::string& name, bool isBackward)
    {
        const uint64_t in = layer.in.Elements();
        const uint64_t out = layer.out.Elements();
        switch (layer.op)
        {
        case TableOp::BatchNorm:
            Norm(name, layer, isBackward);
            break;
        case TableOp::Relu:
            Pass(name, out, isBackward ? 3 : 2);
            break;
        case TableOp::Dropout:
            Memory(name, MemoryKernel::Dropout, {m_samples, out}, 2 * ElementBytes() + 1);
            break;
        case TableOp::MaxPool:
            Traffic(name,
                    PoolBytes(layer) *
                        (isBackward ? m_figures.maxPoolBackward : m_figures.maxPoolForward));
            break;
        case TableOp::AveragePool:
            Traffic(name, (in + out) * ElementBytes());
            break;
        case TableOp::Loss:
            Memory(name,
                   isBackward ? MemoryKernel::CrossEntropyBackward
                              : MemoryKernel::CrossEntropyForward,
                   {m_samples, in},
                   2 * ElementBytes());
            break;
        default:
            throw std::logic_error("TableWriter: layer '" + layer.name + "' has several kernels");
        }
    }

    /**
     * Bytes per sample of a maximum pool: its input, its output and the positions of the maxima.
     */
    double PoolBytes(const TableLayer& layer) const
    {
        return static_cast<double>(layer.in.Elements()) * ElementBytes() +
               static_cast<double>(layer.out.Elements()) * (ElementBytes() + INDEX_BYTES);
    }

    LinearShape Matrix(const TableLayer& layer) const
    {
        return {layer.name, m_samples, layer.in.Elements(), layer.out.channels, layer.Parameters()};
    }

    /** An elementwise kernel with @p operands operands. */
    void Pass(const std::string& name, uint64_t elements, double operands)
    {
        Elementwise(name, {m_samples, elements}, operands);
    }

    /**
     * A batch norm, limited by its thread blocks and by memory, whose times combine as squares. In
     * training it reads its input twice and writes once; backward, it reads two inputs twice and
     * writes once.
     */
    void Norm(const std::string& name, const TableLayer& layer, bool isBackward)
    {
        const Gpu& gpu = GetGpu();
        const auto index = static_cast<std::size_t>(MemoryKernel::Elementwise);
        const double blocks =
            std::min(double{1} * layer.out.channels, m_figures.batchNormBlocksPerSm * gpu.sms);
        const double blockRate =
            isBackward ? m_figures.batchNormBackwardBlockRate : m_figures.batchNormForwardBlockRate;
        const double memory =
            gpu.memoryRate.ToBytesPerSecond() * gpu.kernels.memory.at(index).efficiency;
        const double slower = std::hypot(1, memory / (blocks * blockRate * gpu.boostClockHz));
        Pass(name, layer.out.Elements(), (isBackward ? 5 : 3) * slower);
    }

    /** A kernel that moves @p bytes per sample. */
    void Traffic(const std::string& name, double bytes)
    {
        Memory(name, MemoryKernel::Elementwise, {m_samples, 1}, bytes);
    }

    const OperatorCalibration& m_figures;
    Precision m_convolutions;
    uint64_t m_samples; //!< of a micro-batch
};

/**
 * Elements of a sample where the two branches of the addition @p end fork: the input of the second
 * branch, if a layer starts one, i.e. does not take the output of the previous layer; otherwise the
 * size of the addition, since one branch is then the block's input.
 */
uint64_t
ForkedElements(const LayerTable& table, std::size_t end)
{
    for (std::size_t i = end; i-- > 1 && table.layers[i].op != TableOp::Add;)
    {
        const SampleShape& in = table.layers[i].in;
        const SampleShape& left = table.layers[i - 1].out;
        if (in.channels != left.channels || in.Pixels() != left.Pixels())
        {
            return in.Elements();
        }
    }
    return table.layers[end].out.Elements();
}

} // namespace

SegmentSequence
TableForward(KernelTable& kernels,
             const LayerTable& table,
             const LayerRange& range,
             const ParallelPlan& plan,
             Precision convolutions)
{
    const ParallelPlan own = AsPyTorch(plan);
    TableWriter writer(kernels, own, convolutions);
    writer.Section("forward");
    for (std::size_t i = range.first; i < range.end; i++)
    {
        writer.Forward(table.layers[i]);
    }
    return writer.Take();
}

SegmentSequence
TableBackward(KernelTable& kernels,
              const LayerTable& table,
              const LayerRange& range,
              const ParallelPlan& plan,
              Precision convolutions)
{
    const ParallelPlan own = AsPyTorch(plan);
    TableWriter writer(kernels, own, convolutions);
    for (std::size_t i = range.end; i-- > range.first;)
    {
        // Each layer is a section, so that its gradients are ready when it ends.
        const TableLayer& layer = table.layers[i];
        writer.Section("backward " + layer.name);
        writer.Backward(layer, i == 0, layer.op == TableOp::Add ? ForkedElements(table, i) : 0);
    }
    return writer.Take();
}

} // namespace weir
