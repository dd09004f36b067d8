// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_MODELS_TRANSFORMER_H
#define WEIR_COMPUTE_MODEL_MODELS_TRANSFORMER_H

#include "fabric/units.h"

#include <cstdint>
#include <string>

namespace weir
{

enum class NormKind : uint8_t
{
    LayerNorm,
    RmsNorm
};

enum class ActivationKind : uint8_t
{
    Gelu,
    SwiGlu
};

/** Mixture of experts that replaces the MLP of some layers; none without experts. */
struct ExpertLayers
{
    uint32_t experts{0};    //!< routed experts of a layer
    uint32_t topK{0};       //!< routed experts of a token
    uint32_t ffn{0};        //!< inner width of one expert
    uint32_t sharedFfn{0};  //!< total inner width of the shared experts, which every token uses
    uint32_t firstLayer{0}; //!< layers before this one are dense
    uint32_t every{1};      //!< from firstLayer on, the last of every so many layers has experts
};

/** A transformer, with the figures of its paper's table. */
struct Transformer
{
    std::string name;
    uint32_t layers{0};
    uint32_t hidden{0};     //!< h
    uint32_t heads{0};      //!< a
    uint32_t kvHeads{0};    //!< groups of grouped-query attention; equal to heads without it
    uint32_t headDim{0};    //!< hidden / heads unless stated
    uint32_t ffn{0};        //!< inner width of the MLP; 4h for GPT
    uint32_t sequence{0};   //!< s, tokens of one sample
    uint32_t vocabulary{0}; //!< v
    uint32_t vocabularyMultiple{
        128}; //!< the vocabulary is padded to a multiple of this times its parts (Megatron-LM's
              //!< --make-vocab-size-divisible-by); 1: no padding
    NormKind norm{NormKind::LayerNorm};
    ActivationKind activation{ActivationKind::Gelu};
    bool tiedEmbeddings{true}; //!< output layer shares the word embedding
    bool biases{true};         //!< linear layers have biases
    bool dropout{true};
    bool learnedPositions{true}; //!< false: rotary
    bool causal{true}; //!< a token attends to the tokens before it; false (encoders): to all
    bool predictionHead{false}; //!< a dense layer, GELU and a norm precede the output layer (BERT's
                                //!< masked language model)
    ExpertLayers moe;           //!< ffn above is that of layers without experts
    std::string source;

    /** Matrices whose results the MLP's activation takes: SwiGLU also has a gate. */
    uint32_t MlpInputs() const
    {
        return activation == ActivationKind::SwiGlu ? 2 : 1;
    }

    /** Trainable vectors of a norm: a scale and, for LayerNorm, a shift. */
    uint32_t NormVectors() const
    {
        return norm == NormKind::LayerNorm ? 2 : 1;
    }

    bool HasExperts() const
    {
        return moe.experts > 0;
    }

    /** Whether the MLP of @p layer, from 0, is a mixture of experts. */
    bool IsExpertLayer(uint32_t layer) const
    {
        return HasExperts() && layer >= moe.firstLayer &&
               (layer - moe.firstLayer) % moe.every == moe.every - 1;
    }

    /** Layers with experts among the @p count layers from @p first on. */
    uint32_t ExpertLayersOf(uint32_t first, uint32_t count) const;

    /** Parameters of an MLP of inner width @p width, biases included. */
    double MlpParameters(double width) const;

    /** Parameters of one layer without experts. */
    double LayerParameters() const;

    /**
     * Parameters of one layer with experts, including all routed experts, the router and the shared
     * experts.
     */
    double ExpertLayerParameters() const;

    /** Parameters of the prediction head: dense layer with bias, norm; 0 without one. */
    double PredictionHeadParameters() const;

    /** All parameters, embeddings included. */
    double Parameters() const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_TRANSFORMER_H
