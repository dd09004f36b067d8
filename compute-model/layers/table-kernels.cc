// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/table-kernels.h"

#include "compute-model/layers/interaction-kernels.h"
#include "compute-model/layers/linear-kernels.h"

#include <algorithm>

namespace weir
{

namespace
{

constexpr double INDEX_BYTES = 8; // of a maximum pool's positions (int64)

// What these kernels take, in operands of an elementwise pass over the same elements, or as a
// factor on the bytes they move: an H100's per-operator times of ResNet-50 at 128 images
// (github.com/sarchlab/triosim, sample_trace/trace2-h100-bs128): a ReLU of 411 MB takes 270 us
// for two operands, a batch norm 486 us forward; all 53 norms 8.08 ms forward, 15.8 ms backward;
// the maximum pool 0.41 ms forward and 1.40 ms backward for 0.72 GB.
constexpr double NORM_FORWARD_OPERANDS = 3.6;
constexpr double NORM_BACKWARD_OPERANDS = 7.0;
constexpr double POOL_FORWARD_FACTOR = 1.7;
constexpr double POOL_BACKWARD_FACTOR = 5.9;

// PyTorch's sum over rows, for bias gradients, over one over columns: 41.6 us for 16384 x 1024
// numbers of 32 bits on an H200, 26.7 us for half as many columns.
constexpr double COLUMN_SUM_FACTOR = 1.9;

/** Writes the layers of a table for one micro-batch. */
class TableWriter
{
  public:
    TableWriter(KernelTable& kernels, const ParallelPlan& plan, Precision convolutions)
        : m_plan(plan),
          m_convolutions(convolutions),
          m_samples(plan.microBatch),
          m_element(ActivationBytes(plan.precision)),
          m_writer(kernels, plan)
    {
    }

    void Section(const std::string& name)
    {
        m_writer.Section(name);
    }

    void Forward(const TableLayer& layer)
    {
        switch (layer.op)
        {
        case TableOp::Convolution:
            m_writer.Gemm(layer.name,
                          Product(layer, OutRows(layer), OutColumns(layer), Taps(layer)));
            Bias(layer);
            break;
        case TableOp::Linear:
            WriteLinearForward(m_writer, Matrix(layer), m_plan);
            break;
        case TableOp::BatchNorm:
            Pass(layer.name, layer.out.Elements(), NORM_FORWARD_OPERANDS);
            break;
        case TableOp::Relu:
            Pass(layer.name, layer.out.Elements(), 2);
            break;
        case TableOp::Add:
            Pass(layer.name, layer.out.Elements(), 3);
            break;
        case TableOp::Dropout:
            m_writer.Memory(layer.name,
                            MemoryKernel::Dropout,
                            m_samples,
                            layer.out.Elements(),
                            2 * m_element + 1);
            break;
        case TableOp::MaxPool:
            Traffic(layer.name, PoolBytes(layer) * POOL_FORWARD_FACTOR);
            break;
        case TableOp::AveragePool:
            Traffic(layer.name, (layer.in.Elements() + layer.out.Elements()) * m_element);
            break;
        case TableOp::Embeddings:
            Pass(layer.name + " concatenation", layer.out.Elements(), 2);
            break;
        case TableOp::DotInteraction:
            WriteDotForward(m_writer, Interaction(layer), m_plan);
            break;
        case TableOp::Cross:
            WriteCrossForward(m_writer, Interaction(layer), m_plan);
            break;
        case TableOp::Loss:
            m_writer.Memory(layer.name,
                            MemoryKernel::CrossEntropyForward,
                            m_samples,
                            layer.in.Elements(),
                            2 * m_element);
            break;
        }
    }

    void Backward(const TableLayer& layer, bool isFirst)
    {
        const std::string name = layer.name + " backward";
        switch (layer.op)
        {
        case TableOp::Convolution:
            ConvolutionBackward(layer, isFirst);
            break;
        case TableOp::Linear:
            if (!isFirst)
            {
                WriteInputGradient(m_writer, Matrix(layer), m_plan);
            }
            if (layer.bias)
            {
                m_writer.Memory(layer.name + " bias gradient",
                                MemoryKernel::Reduction,
                                m_samples,
                                layer.out.channels,
                                m_element * COLUMN_SUM_FACTOR);
            }
            WriteWeightGradient(m_writer, Matrix(layer), m_plan);
            return; // which has said that its gradients are ready
        case TableOp::BatchNorm:
            Pass(name, layer.out.Elements(), NORM_BACKWARD_OPERANDS);
            break;
        case TableOp::Relu:
            Pass(name, layer.out.Elements(), 3);
            break;
        case TableOp::Add:
            break; // both sides take the same gradient
        case TableOp::Dropout:
            m_writer.Memory(
                name, MemoryKernel::Dropout, m_samples, layer.out.Elements(), 2 * m_element + 1);
            break;
        case TableOp::MaxPool:
            Traffic(name, PoolBytes(layer) * POOL_BACKWARD_FACTOR);
            break;
        case TableOp::AveragePool:
            Traffic(name, (layer.in.Elements() + layer.out.Elements()) * m_element);
            break;
        case TableOp::Embeddings:
            if (m_plan.data > 1) // slices of one gradient go into the buffer that is sent
            {
                Pass(name + " slices", layer.out.Elements() - layer.in.Elements(), 2);
            }
            break;
        case TableOp::DotInteraction:
            WriteDotBackward(m_writer, Interaction(layer), m_plan);
            break;
        case TableOp::Cross:
            WriteCrossBackward(m_writer, Interaction(layer), m_plan);
            return;
        case TableOp::Loss:
            m_writer.Memory(name,
                            MemoryKernel::CrossEntropyBackward,
                            m_samples,
                            layer.in.Elements(),
                            2 * m_element);
            break;
        }
        m_writer.GradientsReady(layer.Parameters());
    }

    SegmentSequence Take()
    {
        return m_writer.Take();
    }

  private:
    /** Rows, columns and inner dimension of one group's product. */
    uint64_t OutRows(const TableLayer& layer) const
    {
        return m_samples * layer.out.Pixels();
    }

    static uint64_t OutColumns(const TableLayer& layer)
    {
        return layer.out.channels / layer.groups;
    }

    static uint64_t Taps(const TableLayer& layer)
    {
        return uint64_t{layer.in.channels / layer.groups} * layer.window.size * layer.window.size;
    }

    /** Of a maximum pool: its input, its output and where each maximum was. */
    double PoolBytes(const TableLayer& layer) const
    {
        return static_cast<double>(layer.in.Elements()) * m_element +
               static_cast<double>(layer.out.Elements()) * (m_element + INDEX_BYTES);
    }

    GemmShape Product(const TableLayer& layer, uint64_t m, uint64_t n, uint64_t k) const
    {
        GemmShape gemm;
        gemm.m = m;
        gemm.n = n;
        gemm.k = k;
        gemm.batch = layer.groups;
        gemm.precision = m_convolutions;
        return gemm;
    }

    void ConvolutionBackward(const TableLayer& layer, bool isFirst)
    {
        if (!isFirst)
        {
            // Each input is under size^2 / stride^2 windows on average.
            const uint64_t window = uint64_t{layer.window.size} * layer.window.size;
            const uint64_t skipped = uint64_t{layer.window.stride} * layer.window.stride;
            const uint64_t inner = std::max<uint64_t>(1, OutColumns(layer) * window / skipped);
            m_writer.Gemm(
                layer.name + " input gradient",
                Product(
                    layer, m_samples * layer.in.Pixels(), layer.in.channels / layer.groups, inner));
        }
        m_writer.Gemm(layer.name + " weight gradient",
                      Product(layer, OutColumns(layer), Taps(layer), OutRows(layer)));
        if (layer.bias)
        {
            Pass(layer.name + " bias gradient", layer.out.Elements(), 1);
        }
    }

    void Bias(const TableLayer& layer)
    {
        if (layer.bias)
        {
            Pass(layer.name + " bias", layer.out.Elements(), 2);
        }
    }

    LinearShape Matrix(const TableLayer& layer) const
    {
        return {layer.name, m_samples, layer.in.Elements(), layer.out.channels, layer.Parameters()};
    }

    InteractionShape Interaction(const TableLayer& layer) const
    {
        InteractionShape shape;
        shape.name = layer.name;
        shape.samples = m_samples;
        shape.width = layer.in.channels;
        shape.vectors = layer.in.height;
        shape.rank = layer.rank;
        return shape;
    }

    /** An elementwise pass with so many operands. */
    void Pass(const std::string& name, uint64_t elements, double operands)
    {
        m_writer.Memory(name, MemoryKernel::Elementwise, m_samples, elements, operands * m_element);
    }

    /** A pass that moves so many bytes a sample. */
    void Traffic(const std::string& name, double bytes)
    {
        m_writer.Memory(name, MemoryKernel::Elementwise, m_samples, 1, bytes);
    }

    const ParallelPlan& m_plan;
    Precision m_convolutions;
    uint64_t m_samples; //!< of a micro-batch
    double m_element;   //!< bytes of an activation
    SegmentWriter m_writer;
};

} // namespace

SegmentSequence
TableForward(KernelTable& kernels,
             const LayerTable& table,
             const LayerRange& range,
             const ParallelPlan& plan,
             Precision convolutions)
{
    TableWriter writer(kernels, plan, convolutions);
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
    TableWriter writer(kernels, plan, convolutions);
    for (std::size_t i = range.end; i-- > range.first;)
    {
        // A section of its own, so that each layer's gradients are ready when it has ended.
        writer.Section("backward " + table.layers[i].name);
        writer.Backward(table.layers[i], i == 0);
    }
    return writer.Take();
}

} // namespace weir
