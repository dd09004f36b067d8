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

/** A dense decoder-only transformer, as its paper's table describes it. */
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
    NormKind norm{NormKind::LayerNorm};
    ActivationKind activation{ActivationKind::Gelu};
    bool tiedEmbeddings{true}; //!< output layer shares the word embedding
    bool biases{true};         //!< linear layers have biases
    bool dropout{true};
    bool learnedPositions{true}; //!< else rotary
    std::string source;

    /** Parameters of one layer. */
    double LayerParameters() const;

    /** All parameters, embeddings included. */
    double Parameters() const;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_MODELS_TRANSFORMER_H
