// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-model.h"

#include "scenarios/readers/read-experts.h"
#include "scenarios/readers/read-source.h"
#include "scenarios/readers/read-width.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

namespace weir
{
namespace
{

uint32_t
WidthOr(const YamlNode& node, const char* key, uint32_t otherwise)
{
    const auto found = node.Find(key);
    return found ? ReadWidth(*found) : otherwise;
}

bool
BoolOr(const YamlNode& node, const char* key, bool otherwise)
{
    const auto found = node.Find(key);
    return found ? found->AsBool() : otherwise;
}

uint32_t
ReadHeadDim(const YamlNode& node, const Transformer& model)
{
    if (!node.Has("headDim") && model.hidden % model.heads != 0)
    {
        node.Get("heads").Fail("found '" + std::to_string(model.heads) +
                               "', expected a divisor of hidden = " + std::to_string(model.hidden) +
                               ", or headDim");
    }
    return WidthOr(node, "headDim", model.hidden / model.heads);
}

} // namespace

Transformer
ReadModel(const YamlNode& reference, const Catalog& catalog)
{
    const YamlNode node = ResolveBase(reference, CatalogKind::Models, catalog);
    node.CheckKeys(YamlKeysOf("model"));
    Transformer model;
    model.name = node.Get("name").AsString();
    model.layers = ReadWidth(node.Get("layers"));
    model.hidden = ReadWidth(node.Get("hidden"));
    model.heads = ReadWidth(node.Get("heads"));
    model.kvHeads = WidthOr(node, "kvHeads", model.heads);
    if (model.heads % model.kvHeads != 0)
    {
        node.Get("kvHeads").Fail("found '" + std::to_string(model.kvHeads) +
                                 "', expected a divisor of heads = " + std::to_string(model.heads));
    }
    model.headDim = ReadHeadDim(node, model);
    model.ffn = WidthOr(node, "ffn", 4 * model.hidden);
    model.sequence = ReadWidth(node.Get("sequence"));
    model.vocabulary = ReadWidth(node.Get("vocabulary"));
    model.vocabularyMultiple = WidthOr(node, "vocabularyMultiple", model.vocabularyMultiple);
    if (const auto norm = node.Find("norm"))
    {
        model.norm = norm->AsEnum(NormNames());
    }
    if (const auto activation = node.Find("activation"))
    {
        model.activation = activation->AsEnum(ActivationNames());
    }
    model.tiedEmbeddings = BoolOr(node, "tiedEmbeddings", model.tiedEmbeddings);
    model.biases = BoolOr(node, "biases", model.biases);
    model.dropout = BoolOr(node, "dropout", model.dropout);
    model.learnedPositions = BoolOr(node, "learnedPositions", model.learnedPositions);
    model.causal = BoolOr(node, "causal", model.causal);
    model.predictionHead = BoolOr(node, "predictionHead", model.predictionHead);
    if (const auto experts = node.Find("experts"))
    {
        model.moe = ReadExpertLayers(*experts);
    }
    model.source = ReadSource(node);
    node.CheckAllRead({"title"});
    return model;
}

} // namespace weir
