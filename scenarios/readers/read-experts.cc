// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/read-experts.h"

#include "scenarios/readers/read-width.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/readers/yaml-keys.h"

#include <limits>
#include <string>

namespace weir
{
namespace
{

constexpr int64_t MAX_EXPERTS = 65535;
constexpr double MAX_CAPACITY = 1000; //!< times what balanced experts get

void
ReadCount(const YamlNode& node, const char* key, int64_t least, int64_t most, uint32_t& value)
{
    if (const auto found = node.Find(key))
    {
        value = found->AsCount(least, most);
    }
}

/** Experts that are padded up to a capacity are alike; only an imbalance draws by a seed. */
void
CheckLoadUse(const YamlNode& node, const ExpertLoad& load)
{
    for (const char* key : {"imbalance", "shares"})
    {
        const bool isSaid = key == std::string("shares") || load.imbalance > 1;
        if (load.capacityFactor > 0 && isSaid && node.Has(key))
        {
            node.Get(key).Fail(
                "found it beside capacityFactor, to which all experts are padded "
                "whatever they get, expected one of the two");
        }
    }
    if (node.Has("seed") && load.imbalance == 1)
    {
        node.Get("seed").Fail("found '" + node.Get("seed").AsString() +
                              "', by which nothing is drawn, expected an imbalance above 1 with "
                              "it, or no seed");
    }
}

} // namespace

ExpertLayers
ReadExpertLayers(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("model.experts"));
    ExpertLayers moe;
    moe.experts = static_cast<uint32_t>(node.Get("count").AsInteger(1, MAX_EXPERTS));
    moe.topK = static_cast<uint32_t>(node.Get("topK").AsInteger(1, moe.experts));
    moe.ffn = ReadWidth(node.Get("ffn"));
    ReadCount(node, "sharedFfn", 0, MAX_WIDTH, moe.sharedFfn);
    ReadCount(node, "firstLayer", 0, MAX_WIDTH, moe.firstLayer);
    ReadCount(node, "every", 1, MAX_WIDTH, moe.every);
    return moe;
}

ExpertLoad
ReadExpertLoad(const YamlNode& node)
{
    node.CheckKeys(YamlKeysOf("parallel.expertLoad"));
    ExpertLoad load;
    if (const auto factor = node.Find("capacityFactor"))
    {
        load.capacityFactor = factor->AsNumber(0, MAX_CAPACITY);
    }
    if (const auto imbalance = node.Find("imbalance"))
    {
        load.imbalance = imbalance->AsNumber(1, static_cast<double>(MAX_EXPERTS));
    }
    if (const auto seed = node.Find("seed"))
    {
        load.seed = static_cast<uint64_t>(seed->AsInteger(0, std::numeric_limits<int64_t>::max()));
    }
    if (const auto shares = node.Find("shares"))
    {
        for (const YamlNode& share : shares->Items())
        {
            load.shares.push_back(share.AsNumber(0, std::numeric_limits<float>::max()));
        }
        if (node.Has("imbalance"))
        {
            node.Get("imbalance").Fail("found it beside shares, expected one of the two");
        }
    }
    CheckLoadUse(node, load);
    return load;
}

} // namespace weir
