// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_MODELS_LAYER_TABLE_H
#define WEIR_COMPUTE_MODEL_MODELS_LAYER_TABLE_H

#include "compute-model/models/transformer.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace weir
{

/** Rows of an embedding table that are looked up equally often. */
struct RowClass
{
    double rows{0};
    double probability{0}; //!< of each of them, per look-up
};

/** One embedding table of a recommendation model; each sample sums some of its rows. */
struct EmbeddingTable
{
    uint64_t rows{0};
    uint32_t dim{0};               //!< elements of a row
    uint32_t pooling{1};           //!< rows that a sample looks up, on average
    double zipf{0};                //!< row k is looked up in proportion to k^-zipf; 0: uniformly
    std::vector<RowClass> classes; //!< replace zipf; empty: zipf applies
    double observed{0}; //!< length of the repeating list of look-ups in which the classes were
                        //!< counted; 0: look-ups are independent draws

    double Parameters() const
    {
        return static_cast<double>(rows) * dim;
    }

    /** Elements that a sample looks up. */
    uint64_t LookedUp() const
    {
        return uint64_t{pooling} * dim;
    }
};

/** Operation of a layer of a LayerTable. */
enum class TableOp : uint8_t
{
    Convolution,
    Linear,
    BatchNorm,
    Relu,
    MaxPool,
    AveragePool,
    Add, //!< a residual
    Dropout,
    Embeddings, //!< the pooled rows of all embedding tables join the output vector of the previous
                //!< layer
    DotInteraction, //!< dot products of all pairs of vectors, appended to the first vector (Naumov
                    //!< et al. 2019)
    Cross, //!< x0 * (V U x + b) + x with U and V of a lower rank (Wang et al. 2021, DCN v2)
    Loss   //!< cross entropy over the outputs of the previous layer
};

/**
 * Channels and extent of one sample between two layers. A vector has one pixel; several vectors of
 * one width are as many rows.
 */
struct SampleShape
{
    uint32_t channels{0};
    uint32_t height{1};
    uint32_t width{1};

    uint64_t Elements() const
    {
        return uint64_t{channels} * height * width;
    }

    uint64_t Pixels() const
    {
        return uint64_t{height} * width;
    }
};

/** A square window that slides over an image. */
struct Window
{
    uint32_t size{1};
    uint32_t stride{1};
    uint32_t padding{0};
};

/** One layer with its input and output shapes. */
struct TableLayer
{
    TableOp op{TableOp::Linear};
    std::string name;
    SampleShape in;
    SampleShape out;
    Window window;
    uint32_t groups{1}; //!< of a convolution
    uint32_t rank{0};   //!< of a cross layer's matrices
    bool bias{false};

    /** Trainable parameters: weights and biases, scale and shift of a norm. */
    double Parameters() const;

    /** Multiply-adds of one sample in the forward pass. */
    double MultiplyAdds() const;
};

/**
 * A network as a list of layers: convolutional networks, perceptrons, and recommendation models,
 * whose embedding tables join the list at the layer Embeddings.
 */
struct LayerTable
{
    std::string name;
    std::string source;
    std::vector<TableLayer> layers;
    std::vector<EmbeddingTable> embeddings;

    /** Parameters of the layers. */
    double Parameters() const;

    /** Parameters of the embedding tables. */
    double EmbeddingParameters() const;

    /** Index of the layer Embeddings; the number of layers where there is none. */
    std::size_t JoinPosition() const;

    /** Multiply-adds of one sample in the forward pass. */
    double MultiplyAdds() const;
};

/**
 * Builds a list of layers; each layer takes the output of the previous one.
 *
 * Methods throw std::invalid_argument, "layer NAME: found ..., expected ...", where a window does
 * not fit into an image or groups do not divide channels.
 */
class LayerTableBuilder
{
  public:
    explicit LayerTableBuilder(const SampleShape& input);

    void Convolution(uint32_t channels, const Window& window, uint32_t groups, bool bias);
    void Linear(uint32_t features, bool bias);

    /**
     * Joins the pooled rows of @p tables to the current vector: as further vectors if all are as
     * wide as it, else by concatenation.
     * @throws std::invalid_argument without tables, or when the layers so far do not end in one
     *         vector.
     */
    void Embeddings(const std::vector<EmbeddingTable>& tables);

    /**
     * @throws std::invalid_argument unless the layers so far end in at least two vectors of one
     *         width.
     */
    void DotInteraction();

    void Cross(uint32_t rank);
    void Pool(TableOp op, const Window& window);

    /** Averages each channel over the image. */
    void GlobalAveragePool();

    /** Appends a layer that keeps the shape: norm, ReLU, dropout, addition, loss. */
    void Keep(TableOp op);

    /**
     * A residual block of ResNet (He et al. 2016, arXiv 1512.03385, figure 5): two 3x3
     * convolutions, or with @p bottleneck 1x1, 3x3 with the stride and 1x1 to four times the width,
     * with norms between them. Where the shape changes, a 1x1 convolution and norm form the
     * shortcut.
     */
    void Residual(uint32_t width, uint32_t stride, bool bottleneck);

    /**
     * Appends a fully specified layer. Its input need not be the output of the previous layer (a
     * branch may start earlier); the next layer takes its output.
     * @throws std::invalid_argument when groups do not divide the channels of a convolution, or a
     *         window does not map the input shape to the output shape.
     */
    void State(const TableLayer& layer);

    const SampleShape& Shape() const
    {
        return m_shape;
    }

    std::vector<TableLayer> Take();

  private:
    TableLayer& Append(TableOp op, const SampleShape& out);
    void NormedConvolution(uint32_t channels, const Window& window);

    SampleShape m_shape;
    std::vector<TableLayer> m_layers;
};

/** Model that a job trains: a transformer, or a network given as a table of layers. */
using Network = std::variant<Transformer, LayerTable>;

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_LAYER_TABLE_H
