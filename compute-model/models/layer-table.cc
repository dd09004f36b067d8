// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/models/layer-table.h"

#include "fabric/enum-names.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

const char*
NameOf(TableOp op)
{
    static constexpr EnumName<TableOp> NAMES[]{
        {TableOp::Convolution, "convolution"},
        {TableOp::Linear, "linear"},
        {TableOp::BatchNorm, "batch norm"},
        {TableOp::Relu, "ReLU"},
        {TableOp::MaxPool, "maximum pool"},
        {TableOp::AveragePool, "average pool"},
        {TableOp::Add, "add"},
        {TableOp::Dropout, "dropout"},
        {TableOp::Embeddings, "embeddings"},
        {TableOp::DotInteraction, "dot interaction"},
        {TableOp::Cross, "cross"},
        {TableOp::Loss, "cross entropy"},
    };
    return NameIn(NAMES, op);
}

/** Positions of a window along one side (torch.nn.Conv2d, floor mode). */
uint32_t
Positions(uint32_t side, const Window& window, const std::string& layer)
{
    const uint64_t padded = uint64_t{side} + 2 * uint64_t{window.padding};
    if (window.size == 0 || window.stride == 0 || padded < window.size)
    {
        throw std::invalid_argument("layer " + layer + ": found a window of " +
                                    std::to_string(window.size) + " with stride " +
                                    std::to_string(window.stride) +
                                    ", expected a window that fits into " + std::to_string(padded));
    }
    return static_cast<uint32_t>((padded - window.size) / window.stride + 1);
}

void
CheckGroups(const TableLayer& layer)
{
    if (layer.groups == 0 || layer.out.channels % layer.groups != 0 ||
        layer.in.channels % layer.groups != 0)
    {
        throw std::invalid_argument(
            "layer " + layer.name + ": found " + std::to_string(layer.groups) +
            " groups, expected a divisor of " + std::to_string(layer.in.channels) + " and " +
            std::to_string(layer.out.channels) + " channels");
    }
}

} // namespace

double
TableLayer::Parameters() const
{
    switch (op)
    {
    case TableOp::Convolution:
        return double{1} * out.channels * (in.channels / groups) * window.size * window.size +
               (bias ? out.channels : 0);
    case TableOp::Linear:
        return static_cast<double>(in.Elements()) * out.channels + (bias ? out.channels : 0);
    case TableOp::BatchNorm:
        return 2.0 * in.channels;
    case TableOp::Cross:
        return static_cast<double>(in.Elements()) * (2.0 * rank + 1); // U, V and b
    default:
        return 0;
    }
}

double
TableLayer::MultiplyAdds() const
{
    switch (op)
    {
    case TableOp::Convolution:
        return static_cast<double>(out.Elements()) * (in.channels / groups) * window.size *
               window.size;
    case TableOp::Linear:
        return static_cast<double>(in.Elements()) * out.channels;
    case TableOp::DotInteraction:
        return static_cast<double>(in.Elements()) * in.height; // every vector with every vector
    case TableOp::Cross:
        return 2.0 * static_cast<double>(in.Elements()) * rank;
    default:
        return 0;
    }
}

double
LayerTable::Parameters() const
{
    double sum = 0;
    for (const TableLayer& layer : layers)
    {
        sum += layer.Parameters();
    }
    return sum;
}

double
LayerTable::EmbeddingParameters() const
{
    double sum = 0;
    for (const EmbeddingTable& table : embeddings)
    {
        sum += table.Parameters();
    }
    return sum;
}

std::size_t
LayerTable::JoinPosition() const
{
    const auto found = std::find_if(layers.begin(), layers.end(), [](const TableLayer& layer) {
        return layer.op == TableOp::Embeddings;
    });
    return static_cast<std::size_t>(found - layers.begin());
}

double
LayerTable::MultiplyAdds() const
{
    double sum = 0;
    for (const TableLayer& layer : layers)
    {
        sum += layer.MultiplyAdds();
    }
    return sum;
}

LayerTableBuilder::LayerTableBuilder(const SampleShape& input)
    : m_shape(input)
{
}

TableLayer&
LayerTableBuilder::Append(TableOp op, const SampleShape& out)
{
    TableLayer layer;
    layer.op = op;
    layer.name = NameOf(op) + (" " + std::to_string(m_layers.size() + 1));
    layer.in = m_shape;
    layer.out = out;
    m_shape = out;
    m_layers.push_back(std::move(layer));
    return m_layers.back();
}

void
LayerTableBuilder::Convolution(uint32_t channels, const Window& window, uint32_t groups, bool bias)
{
    TableLayer& layer = Append(TableOp::Convolution, {channels, 1, 1});
    layer.window = window;
    layer.groups = groups;
    layer.bias = bias;
    CheckGroups(layer);
    layer.out.height = Positions(layer.in.height, window, layer.name);
    layer.out.width = Positions(layer.in.width, window, layer.name);
    m_shape = layer.out;
}

void
LayerTableBuilder::State(const TableLayer& layer)
{
    if (layer.op == TableOp::Convolution)
    {
        CheckGroups(layer);
    }
    if (layer.op == TableOp::Convolution || layer.op == TableOp::MaxPool)
    {
        const uint32_t height = Positions(layer.in.height, layer.window, layer.name);
        const uint32_t width = Positions(layer.in.width, layer.window, layer.name);
        if (layer.out.height != height || layer.out.width != width)
        {
            throw std::invalid_argument(
                "layer " + layer.name + ": found out of " + std::to_string(layer.out.height) +
                " x " + std::to_string(layer.out.width) + ", expected " + std::to_string(height) +
                " x " + std::to_string(width) + ", the output size of its window");
        }
    }
    m_layers.push_back(layer);
    m_shape = layer.out;
}

void
LayerTableBuilder::Linear(uint32_t features, bool bias)
{
    Append(TableOp::Linear, {features, 1, 1}).bias = bias;
}

void
LayerTableBuilder::Embeddings(const std::vector<EmbeddingTable>& tables)
{
    if (m_shape.Pixels() != 1 || tables.empty())
    {
        throw std::invalid_argument("layer embeddings: found " + std::to_string(tables.size()) +
                                    " tables after " + std::to_string(m_shape.Pixels()) +
                                    " vectors, expected at least one table after a single vector, "
                                    "such as the output of a linear layer");
    }
    uint64_t width = m_shape.channels;
    bool isAlike = true;
    for (const EmbeddingTable& table : tables)
    {
        width += table.dim;
        isAlike = isAlike && table.dim == m_shape.channels;
    }
    if (width > std::numeric_limits<uint32_t>::max())
    {
        throw std::invalid_argument("layer embeddings: found " + std::to_string(width) +
                                    " elements per sample, expected fewer than 2^32");
    }
    const auto vectors = static_cast<uint32_t>(tables.size() + 1);
    Append(TableOp::Embeddings,
           isAlike ? SampleShape{m_shape.channels, vectors, 1}
                   : SampleShape{static_cast<uint32_t>(width), 1, 1});
}

void
LayerTableBuilder::DotInteraction()
{
    if (m_shape.height < 2 || m_shape.width != 1)
    {
        throw std::invalid_argument("layer dot interaction: found " +
                                    std::to_string(m_shape.Pixels()) +
                                    (m_shape.Pixels() == 1 ? " vector" : " vectors") +
                                    ", expected several of equal width, such as the output of "
                                    "embeddings as wide as the preceding layer");
    }
    const uint64_t pairs = uint64_t{m_shape.height} * (m_shape.height - 1) / 2;
    if (pairs + m_shape.channels > std::numeric_limits<uint32_t>::max())
    {
        throw std::invalid_argument("layer dot interaction: found " + std::to_string(pairs) +
                                    " pairs of vectors, expected fewer than 2^32");
    }
    Append(TableOp::DotInteraction, {m_shape.channels + static_cast<uint32_t>(pairs), 1, 1});
}

void
LayerTableBuilder::Cross(uint32_t rank)
{
    Append(TableOp::Cross, m_shape).rank = rank;
}

void
LayerTableBuilder::Pool(TableOp op, const Window& window)
{
    const std::string name = NameOf(op) + std::string(" ") + std::to_string(m_layers.size() + 1);
    const SampleShape out{m_shape.channels,
                          Positions(m_shape.height, window, name),
                          Positions(m_shape.width, window, name)};
    Append(op, out).window = window;
}

void
LayerTableBuilder::GlobalAveragePool()
{
    Append(TableOp::AveragePool, {m_shape.channels, 1, 1}).window.size = m_shape.height;
}

void
LayerTableBuilder::Keep(TableOp op)
{
    Append(op, m_shape);
}

void
LayerTableBuilder::NormedConvolution(uint32_t channels, const Window& window)
{
    Convolution(channels, window, 1, false);
    Keep(TableOp::BatchNorm);
}

void
LayerTableBuilder::Residual(uint32_t width, uint32_t stride, bool bottleneck)
{
    constexpr uint32_t EXPANSION = 4;
    const SampleShape in = m_shape;
    const uint32_t channels = bottleneck ? EXPANSION * width : width;
    if (bottleneck)
    {
        NormedConvolution(width, {1, 1, 0});
        Keep(TableOp::Relu);
        NormedConvolution(width, {3, stride, 1});
    }
    else
    {
        NormedConvolution(width, {3, stride, 1});
    }
    Keep(TableOp::Relu);
    NormedConvolution(channels, bottleneck ? Window{1, 1, 0} : Window{3, 1, 1});
    if (stride != 1 || in.channels != channels)
    {
        m_shape = in;
        NormedConvolution(channels, {1, stride, 0});
    }
    Keep(TableOp::Add);
    Keep(TableOp::Relu);
}

std::vector<TableLayer>
LayerTableBuilder::Take()
{
    return std::move(m_layers);
}

} // namespace weir
