// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_MODELS_LAYER_TABLE_H
#define WEIR_COMPUTE_MODEL_MODELS_LAYER_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Rows of an embedding table that are looked up equally often. */
struct RowClass
{
    double rows{0};
    double probability{0}; //!< of one of them, per look-up
};

/** One embedding table of a recommendation model: a sample sums some of its rows. */
struct EmbeddingTable
{
    uint64_t rows{0};
    uint32_t dim{0};               //!< elements of a row
    uint32_t pooling{1};           //!< rows that a sample looks up, on average
    double zipf{0};                //!< row k is looked up in proportion to k^-zipf; 0: all alike
    std::vector<RowClass> classes; //!< said instead of zipf; empty: zipf holds
    double observed{0}; //!< look-ups that the classes were counted in, which come again and again;
                        //!< 0: each look-up is drawn again

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

/** What a layer of a LayerTable computes. */
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
    Embeddings,     //!< the pooled rows of all embedding tables join the vector of the layer before
    DotInteraction, //!< products of every two vectors, behind the first of them (Naumov et al.
                    //!< 2019)
    Cross, //!< x0 * (V U x + b) + x with U and V of a lower rank (Wang et al. 2021, DCN v2)
    Loss   //!< cross entropy over the outputs of the layer before
};

/**
 * Channels and extent of one sample between two layers; a vector has one pixel, vectors of one
 * width that stand side by side are as many rows.
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

/** A square window that moves over an image. */
struct Window
{
    uint32_t size{1};
    uint32_t stride{1};
    uint32_t padding{0};
};

/** One layer with the shapes it sees. */
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

    /** Trainable ones: weights and biases, scale and shift of a norm. */
    double Parameters() const;

    /** Multiply-adds of one sample forward. */
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

    /** Of the layers. */
    double Parameters() const;

    /** Of the embedding tables. */
    double EmbeddingParameters() const;

    /** The position of the layer Embeddings; the number of layers where there is none. */
    std::size_t JoinPosition() const;

    /** Multiply-adds of one sample forward. */
    double MultiplyAdds() const;
};

/**
 * Appends layers, each to the output of the one before.
 *
 * Methods throw std::invalid_argument, "layer NAME: found ..., expected ...", where a window leaves
 * nothing of an image or groups do not divide channels.
 */
class LayerTableBuilder
{
  public:
    explicit LayerTableBuilder(const SampleShape& input);

    void Convolution(uint32_t channels, const Window& window, uint32_t groups, bool bias);
    void Linear(uint32_t features, bool bias);

    /**
     * Vectors as wide as the one so far stand beside it; of other widths they go behind it.
     * @throws std::invalid_argument when the layers so far do not end in one vector.
     */
    void Embeddings(const std::vector<EmbeddingTable>& tables);

    /** @throws std::invalid_argument unless two vectors or more of one width stand side by side. */
    void DotInteraction();

    void Cross(uint32_t rank);
    void Pool(TableOp op, const Window& window);

    /** Averages each channel over the image. */
    void GlobalAveragePool();

    /** A layer that leaves the shape as it is: norm, ReLU, dropout, addition, loss. */
    void Keep(TableOp op);

    /**
     * A residual block of ResNet (He et al. 2016, arXiv 1512.03385, figure 5): two 3x3
     * convolutions, or with @p bottleneck 1x1, 3x3 with the stride and 1x1 to four times the
     * width; norms between; a 1x1 convolution and norm beside them where the shape changes.
     */
    void Residual(uint32_t width, uint32_t stride, bool bottleneck);

    /**
     * A layer that says all of itself; what it takes need not be what the one before left (a branch
     * may begin earlier), and the next one takes what it leaves.
     * @throws std::invalid_argument when groups do not divide the channels of a convolution, or its
     *         window does not turn the shape that it takes into the one that it leaves.
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

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_LAYER_TABLE_H
