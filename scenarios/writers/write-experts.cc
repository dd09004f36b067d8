// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-experts.h"

#include <charconv>

namespace weir
{
namespace
{

/** The shortest decimal that reads back equal. */
std::string
Exact(double value)
{
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
    return {text, end};
}

} // namespace

void
WriteExpertLayers(YamlWriter& out, const ExpertLayers& moe)
{
    if (moe.experts == 0)
    {
        return;
    }
    out.BeginMap("experts");
    out.Integer("count", moe.experts);
    out.Integer("topK", moe.topK);
    out.Integer("ffn", moe.ffn);
    out.Integer("sharedFfn", moe.sharedFfn);
    out.Integer("firstLayer", moe.firstLayer);
    out.Integer("every", moe.every);
    out.EndMap();
}

void
WriteExpertLoad(YamlWriter& out, const ExpertLoad& load)
{
    if (load.IsBalanced() && load.capacityFactor == 0)
    {
        return; // as without
    }
    out.BeginMap("expertLoad");
    if (load.capacityFactor > 0) // all else has no effect then
    {
        out.Number("capacityFactor", load.capacityFactor);
    }
    else if (load.shares.empty() && load.imbalance > 1)
    {
        out.Number("imbalance", load.imbalance);
        out.Integer("seed", load.seed);
    }
    else if (!load.shares.empty())
    {
        out.BeginList("shares");
        for (const double share : load.shares)
        {
            out.Item(Exact(share));
        }
        out.EndList();
    }
    out.EndMap();
}

} // namespace weir
