// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/token-spread.h"

#include "compute-model/plan/plan-refusal.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>

namespace weir
{

namespace
{

/** "2.5". */
std::string
ShortText(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.6g", value);
    return text;
}

void
CheckExpertModel(const Transformer& model)
{
    const ExpertLayers& moe = model.moe;
    if (moe.topK == 0 || moe.topK > moe.experts)
    {
        RefusePlan("topK", std::to_string(moe.topK), "1 to " + std::to_string(moe.experts));
    }
    if (moe.ffn == 0 || moe.every == 0)
    {
        RefusePlan("experts", std::to_string(moe.experts), "an ffn and a period of at least 1");
    }
    if (model.ExpertLayersOf(0, model.layers) == 0)
    {
        const bool isLate = moe.firstLayer >= model.layers;
        RefusePlan(isLate ? "firstLayer" : "every",
                   std::to_string(isLate ? moe.firstLayer : moe.every),
                   "one that leaves a layer of " + std::to_string(model.layers) + " with experts");
    }
}

void
CheckExpertLoad(const Transformer& model, const ExpertLoad& load)
{
    const std::string experts = std::to_string(model.moe.experts);
    if (!load.shares.empty() && load.shares.size() != model.moe.experts)
    {
        RefusePlan("expertLoad",
                   std::to_string(load.shares.size()) + " shares",
                   "one for each of " + experts + " experts");
    }
    const bool isPositive = std::all_of(
        load.shares.begin(), load.shares.end(), [](double share) { return share >= 0; });
    const bool hasWork =
        std::any_of(load.shares.begin(), load.shares.end(), [](double share) { return share > 0; });
    if (!load.shares.empty() && (!isPositive || !hasWork))
    {
        RefusePlan("expertLoad", "shares without work", "none below zero and one above it");
    }
    // A token goes to topK different experts.
    const double most = static_cast<double>(model.moe.experts) / model.moe.topK;
    constexpr double ROUNDING = 1e-9;
    if (load.capacityFactor < 0 || load.imbalance < 1 || load.imbalance > most * (1 + ROUNDING))
    {
        RefusePlan("expertLoad",
                   "imbalance " + ShortText(load.imbalance),
                   "1 (all experts alike) to experts / topK = " + ShortText(most) +
                       " (every token goes to one of them)");
    }
    const double sum = std::accumulate(load.shares.begin(), load.shares.end(), 0.0);
    for (const double share : load.shares)
    {
        if (share * model.moe.topK > sum * (1 + ROUNDING))
        {
            RefusePlan("expertLoad",
                       "a share of " + ShortText(share) + " of " + ShortText(sum),
                       "at most 1 / topK of the sum (every token goes to that expert)");
        }
    }
}

} // namespace

void
CheckExperts(const Transformer& model, const ParallelPlan& plan)
{
    if (!model.HasExperts())
    {
        if (plan.expert != 1 || plan.expertTensor > 1)
        {
            RefusePlan(plan.expert != 1 ? "expert" : "expertTensor",
                       std::to_string(plan.expert != 1 ? plan.expert : plan.expertTensor),
                       "1 for a model without experts");
        }
        return;
    }
    CheckExpertModel(model);
    CheckExpertLoad(model, plan.expertLoad);
    RequireDivides("expert", plan.expert, "experts", model.moe.experts);
    const uint32_t tensor = plan.ExpertTensor();
    RequireDivides("expertTensor", tensor, "the experts' ffn", model.moe.ffn);
    RequireDivides("expert * expertTensor",
                   static_cast<uint64_t>(plan.expert) * tensor,
                   "tensor * context * data",
                   static_cast<uint64_t>(plan.tensor) * plan.DenseReplicas());
    if (model.moe.sharedFfn > 0)
    {
        RequireDivides("tensor", plan.tensor, "sharedFfn", model.moe.sharedFfn);
    }
    if (plan.tensor > 1 && !plan.sequenceParallel)
    {
        RefusePlan("sequenceParallel", "false", "true with experts and tensor above 1");
    }
}

void
CheckContext(const Transformer& model, const ParallelPlan& plan)
{
    if (plan.context == 1)
    {
        return;
    }
    const uint64_t pieces = 2ULL * plan.context * (plan.sequenceParallel ? plan.tensor : 1);
    RequireDivides(plan.sequenceParallel ? "context * 2 * tensor" : "context * 2",
                   pieces,
                   "sequence",
                   model.sequence);
    if (plan.attention != AttentionKind::Fused)
    {
        RefusePlan("attention", "unfused", "fused with context above 1");
    }
}

} // namespace weir
