// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/layers/table-kernels.h"

#include "compute-model/layers/convolution-kernels.h"
#include "compute-model/layers/interaction-kernels.h"
#include "compute-model/layers/linear-kernels.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

constexpr double INDEX_BYTES = 8; // of a maximum pool's positions (int64)

// Training batch norms read their input twice and write once, backward two inputs twice.
constexpr double NORM_FORWARD_OPERANDS = 3;
constexpr double NORM_BACKWARD_OPERANDS = 5;

/** Tables are of PyTorch's own layers, each operation a kernel, whatever @p plan has for others. */
ParallelPlan
AsPyTorch(const ParallelPlan& plan)
{
    ParallelPlan own = plan;
    own.fusion = KernelFusion::Eager;
    return own;
}

/** Writes the layers of a table for one micro-batch. */
class TableWriter
{
  public:
    TableWriter(KernelTable& kernels, const ParallelPlan& plan, Precision convolutions)
        : m_plan(AsPyTorch(plan)),
          m_gpu(kernels.GetGpu()),
          m_figures(m_gpu.kernels.operators),
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
            WriteConvolutionForward(m_writer, layer, m_plan, m_convolutions);
            if (layer.bias)
            {
                Pass(layer.name + " bias", layer.out.Elements(), 2);
            }
            break;
        case TableOp::Linear:
            WriteLinearForward(m_writer, Matrix(layer), m_plan);
            break;
        case TableOp::BatchNorm:
            Norm(layer.name, layer, NORM_FORWARD_OPERANDS, m_figures.batchNormForwardBlockRate);
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
            Traffic(layer.name, PoolBytes(layer) * m_figures.maxPoolForward);
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

    /**
     * @param forked elements of a sample that an addition's two sides both come from: the sum of
     *        their gradients is theirs, computed where the sides part
     */
    void Backward(const TableLayer& layer, bool isFirst, uint64_t forked)
    {
        const std::string name = layer.name + " backward";
        switch (layer.op)
        {
        case TableOp::Convolution:
            WriteConvolutionBackward(m_writer, layer, m_plan, m_convolutions, isFirst);
            if (layer.bias)
            {
                Pass(layer.name + " bias gradient", layer.out.Elements(), 1);
            }
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
                                m_element * m_figures.columnSum);
            }
            WriteWeightGradient(m_writer, Matrix(layer), m_plan);
            return; // which has said that its gradients are ready
        case TableOp::BatchNorm:
            Norm(name, layer, NORM_BACKWARD_OPERANDS, m_figures.batchNormBackwardBlockRate);
            break;
        case TableOp::Relu:
            Pass(name, layer.out.Elements(), 3);
            break;
        case TableOp::Add: // both sides take the same gradient, and leave one each
            Pass(name + " sum of sides", forked, 3);
            break;
        case TableOp::Dropout:
            m_writer.Memory(
                name, MemoryKernel::Dropout, m_samples, layer.out.Elements(), 2 * m_element + 1);
            break;
        case TableOp::MaxPool:
            Traffic(name, PoolBytes(layer) * m_figures.maxPoolBackward);
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
    /** Of a maximum pool: its input, its output and where each maximum was. */
    double PoolBytes(const TableLayer& layer) const
    {
        return static_cast<double>(layer.in.Elements()) * m_element +
               static_cast<double>(layer.out.Elements()) * (m_element + INDEX_BYTES);
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

    /** A batch norm: as slow as its blocks and the memory together, which meet as squares. */
    void Norm(const std::string& name, const TableLayer& layer, double operands, double blockRate)
    {
        const auto index = static_cast<std::size_t>(MemoryKernel::Elementwise);
        const double blocks =
            std::min(double{1} * layer.out.channels, m_figures.batchNormBlocksPerSm * m_gpu.sms);
        const double memory =
            m_gpu.memoryRate.ToBytesPerSecond() * m_gpu.kernels.memory.at(index).efficiency;
        const double slower = std::hypot(1, memory / (blocks * blockRate * m_gpu.boostClockHz));
        Pass(name, layer.out.Elements(), operands * slower);
    }

    /** A pass that moves so many bytes a sample. */
    void Traffic(const std::string& name, double bytes)
    {
        m_writer.Memory(name, MemoryKernel::Elementwise, m_samples, 1, bytes);
    }

    ParallelPlan m_plan;
    const Gpu& m_gpu;
    const OperatorCalibration& m_figures;
    Precision m_convolutions;
    uint64_t m_samples; //!< of a micro-batch
    double m_element;   //!< bytes of an activation
    SegmentWriter m_writer;
};

/**
 * Elements of a sample from which both sides of the addition @p end come: what a side takes that
 * begins behind the first one, whose layer does not take what the one before leaves; else the
 * addition's own, as one side is what its block takes.
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
        const TableLayer& layer = table.layers[i];
        writer.Section("backward " + layer.name);
        writer.Backward(layer, i == 0, layer.op == TableOp::Add ? ForkedElements(table, i) : 0);
    }
    return writer.Take();
}

} // namespace weir
