// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-model.h"

#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <limits>
#include <string>

namespace weir
{
namespace
{

constexpr int64_t MAX_EXPERTS = 65535;
constexpr double MAX_CAPACITY = 1000; //!< multiple of the balanced load

/** Refuses loads of experts padded to a capacity, and a seed without an imbalance to draw. */
void
CheckLoadUse(const YamlNode& node, const ExpertLoad& load)
{
    for (const char* key : {"imbalance", "shares"})
    {
        const bool isSaid = key == std::string("shares") || load.imbalance > 1;
        if (load.capacityFactor > 0 && isSaid && node.Has(key))
        {
            node.Get(key).Fail(
                "found it beside capacityFactor, which gives all experts the same size, expected "
                "one of the two");
        }
    }
    if (node.Has("seed") && load.imbalance == 1)
    {
        node.Get("seed").Fail(
            "found '" + node.Get("seed").AsString() +
            "', which has no effect, expected an imbalance above 1 with it, or no seed");
    }
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
    return node.ReadOr("headDim", model.hidden / model.heads, ReadWidth);
}

/**
 * Reads a model's `experts:`: {count, topK, ffn} and, optionally, {sharedFfn, firstLayer, every}.
 * @throws InputError with the location of what is missing, unknown or out of range.
 */
ExpertLayers
ReadExpertLayers(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("model.experts"));
    ExpertLayers moe;
    moe.experts = node.Get("count").AsCount(1, MAX_EXPERTS);
    moe.topK = node.Get("topK").AsCount(1, moe.experts);
    moe.ffn = ReadWidth(node.Get("ffn"));
    node.Read("sharedFfn", moe.sharedFfn, &YamlNode::AsCount, 0, MAX_WIDTH);
    node.Read("firstLayer", moe.firstLayer, &YamlNode::AsCount, 0, MAX_WIDTH);
    node.Read("every", moe.every, &YamlNode::AsCount, 1, MAX_WIDTH);
    return moe;
}

} // namespace

ExpertLoad
ReadExpertLoad(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("parallel.expertLoad"));
    ExpertLoad load;
    node.Read("capacityFactor", load.capacityFactor, &YamlNode::AsNumber, 0, MAX_CAPACITY);
    node.Read(
        "imbalance", load.imbalance, &YamlNode::AsNumber, 1, static_cast<double>(MAX_EXPERTS));
    node.Read("seed", load.seed, &YamlNode::AsSeed);
    if (const auto shares = node.Find("shares"))
    {
        load.shares = shares->Each(&YamlNode::AsNumber, 0, std::numeric_limits<float>::max());
        if (node.Has("imbalance"))
        {
            node.Get("imbalance").Fail("found it beside shares, expected one of the two");
        }
    }
    CheckLoadUse(node, load);
    return load;
}

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
    model.kvHeads = node.ReadOr("kvHeads", model.heads, ReadWidth);
    if (model.heads % model.kvHeads != 0)
    {
        node.Get("kvHeads").Fail("found '" + std::to_string(model.kvHeads) +
                                 "', expected a divisor of heads = " + std::to_string(model.heads));
    }
    model.headDim = ReadHeadDim(node, model);
    model.ffn = node.ReadOr("ffn", 4 * model.hidden, ReadWidth);
    model.sequence = ReadWidth(node.Get("sequence"));
    model.vocabulary = ReadWidth(node.Get("vocabulary"));
    node.Read("vocabularyMultiple", model.vocabularyMultiple, ReadWidth);
    node.Read("norm", model.norm, NormNames());
    node.Read("activation", model.activation, ActivationNames());
    node.Read("tiedEmbeddings", model.tiedEmbeddings, &YamlNode::AsBool);
    node.Read("biases", model.biases, &YamlNode::AsBool);
    node.Read("dropout", model.dropout, &YamlNode::AsBool);
    node.Read("learnedPositions", model.learnedPositions, &YamlNode::AsBool);
    node.Read("causal", model.causal, &YamlNode::AsBool);
    node.Read("predictionHead", model.predictionHead, &YamlNode::AsBool);
    node.Read("experts", model.moe, ReadExpertLayers);
    model.source = ReadSource(node);
    node.CheckAllRead({"title"});
    return model;
}

} // namespace weir
