// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/rank-shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace weir
{

Bytes
EstimatedBytes(double bytes)
{
    constexpr double MAX_BYTES = 0x1p60;
    return Bytes::Nearest(std::min(bytes, MAX_BYTES));
}

RankShape::RankShape(const Transformer& model, const ParallelPlan& plan)
    : samples(plan.microBatch / plan.SampleParts()),
      tokens(static_cast<uint64_t>(model.sequence) / plan.context * samples),
      normTokens(plan.sequenceParallel ? tokens / plan.tensor : tokens),
      hidden(model.hidden / plan.HiddenParts()),
      heads(model.heads / plan.WidthParts()),
      kvHeads(model.kvHeads / plan.WidthParts()),
      query(heads * model.headDim),
      qkv(query + 2 * kvHeads * model.headDim),
      inner(uint64_t{model.MlpInputs()} * (model.ffn / plan.WidthParts())),
      ffn(model.ffn / plan.WidthParts()),
      vocabulary(PaddedVocabulary(model, plan) / plan.WidthParts()),
      boundary(EstimatedBytes(static_cast<double>(tokens) * static_cast<double>(hidden) *
                              ActivationBytes(plan.precision))),
      stageBoundary(!plan.HasGrid() && (plan.sequenceParallel || plan.scatterGatherPipeline)
                        ? boundary / plan.tensor
                        : boundary)
{
}

uint64_t
PaddedVocabulary(const Transformer& model, const ParallelPlan& plan)
{
    const uint64_t multiple = static_cast<uint64_t>(model.vocabularyMultiple) * plan.WidthParts();
    return (model.vocabulary + multiple - 1) / multiple * multiple;
}

namespace
{

/** k^-a for k = 1 .. @p count, scaled to a mean of one. */
std::vector<double>
PowerShares(uint32_t count, double exponent)
{
    std::vector<double> shares(count);
    double sum = 0;
    for (uint32_t k = 0; k < count; k++)
    {
        shares[k] = std::pow(k + 1, -exponent);
        sum += shares[k];
    }
    for (double& share : shares)
    {
        share *= count / sum;
    }
    return shares;
}

/** Fisher-Yates shuffle, written out so that a seed gives the same order on every platform. */
void
Shuffle(std::vector<double>& shares, uint64_t seed)
{
    std::mt19937_64 random(seed);
    for (std::size_t left = shares.size(); left > 1; left--)
    {
        std::swap(shares[left - 1], shares[random() % left]);
    }
}

/**
 * Exponent for which the largest share is @p imbalance, by bisection: the share grows with the
 * exponent.
 */
double
ExponentOf(uint32_t count, double imbalance)
{
    constexpr double STEEPEST = 64;
    constexpr int HALVINGS = 60;
    double low = 0;
    double high = STEEPEST;
    for (int i = 0; i < HALVINGS; i++)
    {
        const double middle = (low + high) / 2;
        (PowerShares(count, middle).front() < imbalance ? low : high) = middle;
    }
    return (low + high) / 2;
}

/** Rows of one rank's router GEMM. */
uint64_t
TokensOf(const Transformer& model, const ParallelPlan& plan)
{
    return static_cast<uint64_t>(model.sequence) / plan.context * plan.microBatch /
           (plan.sequenceParallel ? plan.tensor : 1);
}

/**
 * Sum of the shares of each rank's experts; @p ranks ranks hold equal consecutive parts of
 * @p experts.
 */
std::vector<double>
SharesByRank(const std::vector<double>& experts, uint32_t ranks)
{
    const auto local = static_cast<std::ptrdiff_t>(experts.size() / ranks);
    std::vector<double> sums;
    for (auto first = experts.begin(); first != experts.end(); first += local)
    {
        sums.push_back(std::accumulate(first, first + local, 0.0));
    }
    return sums;
}

/**
 * Shares of the experts of the busiest rank; @p ranks ranks hold equal consecutive parts of
 * @p shares.
 */
std::vector<double>
BusiestRank(const std::vector<double>& shares, uint32_t ranks)
{
    const std::vector<double> sums = SharesByRank(shares, ranks);
    const auto local = static_cast<std::ptrdiff_t>(shares.size() / ranks);
    const auto busiest =
        shares.begin() + local * (std::max_element(sums.begin(), sums.end()) - sums.begin());
    return {busiest, busiest + local};
}

/** Bytes that every rank sends to each rank; empty where experts are balanced. */
std::vector<Bytes>
PartsByRank(const Transformer& model, const ParallelPlan& plan)
{
    std::vector<Bytes> parts;
    if (plan.expertLoad.IsBalanced())
    {
        return parts;
    }
    const double row = model.hidden * static_cast<double>(ActivationBytes(plan.precision));
    const double perExpert = static_cast<double>(TokensOf(model, plan)) * model.moe.topK /
                             static_cast<double>(model.moe.experts);
    for (const double share :
         SharesByRank(ExpertShares(plan.expertLoad, model.moe.experts), plan.expert))
    {
        parts.push_back(Bytes::Nearest(std::round(perExpert * share) * row));
    }
    return parts;
}

} // namespace

std::vector<double>
ExpertShares(const ExpertLoad& load, uint32_t experts)
{
    if (load.IsBalanced())
    {
        return std::vector<double>(experts, 1.0);
    }
    if (!load.shares.empty())
    {
        std::vector<double> shares = load.shares;
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (double& share : shares)
        {
            share *= experts / sum;
        }
        return shares;
    }
    std::vector<double> shares = PowerShares(experts, ExponentOf(experts, load.imbalance));
    Shuffle(shares, load.seed);
    return shares;
}

std::vector<std::vector<Bytes>>
ExpertTraffic(const Transformer& model, const ParallelPlan& plan)
{
    const std::vector<Bytes> parts = PartsByRank(model, plan);
    return std::vector<std::vector<Bytes>>(parts.size(), parts);
}

ExpertShape::ExpertShape(const Transformer& model, const ParallelPlan& plan)
    : tokens(TokensOf(model, plan))
{
    const ExpertLayers& moe = model.moe;
    const double pairs = static_cast<double>(tokens) * moe.topK;
    const double capacity = plan.expertLoad.capacityFactor;
    // With a capacity every rank sends the same number of rows to every expert (Megatron-LM pads to
    // it).
    const double perExpert =
        capacity > 0 ? std::ceil(pairs / moe.experts * capacity) : pairs / moe.experts;
    sent = static_cast<uint64_t>(std::llround(perExpert * moe.experts));
    const uint32_t tensor = plan.ExpertTensor();
    received = 0;
    for (const double share : BusiestRank(ExpertShares(plan.expertLoad, moe.experts), plan.expert))
    {
        // An expert receives rows from every expert rank and every expert-tensor rank.
        const double rows = perExpert * share * plan.expert * tensor;
        expertRows.push_back(static_cast<uint64_t>(std::llround(rows)));
        received += expertRows.back();
    }
    ffn = moe.ffn / tensor;
    inner = model.MlpInputs() * ffn;
    const uint64_t row = model.hidden * static_cast<uint64_t>(ActivationBytes(plan.precision));
    exchanged = Bytes(static_cast<int64_t>(sent * row));
    returned = exchanged;
    if (const std::vector<Bytes> parts = PartsByRank(model, plan); !parts.empty())
    {
        exchanged = std::accumulate(parts.begin(), parts.end(), Bytes());
        returned = *std::max_element(parts.begin(), parts.end()) * plan.expert;
    }
    gathered = Bytes(static_cast<int64_t>(received * row));
    parameters = static_cast<double>(expertRows.size()) * model.MlpParameters(moe.ffn) / tensor;
}

} // namespace weir
