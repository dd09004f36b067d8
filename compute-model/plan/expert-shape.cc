// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/plan/expert-shape.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace weir
{

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

/** Fisher and Yates, so that one seed means one order on every platform. */
void
Shuffle(std::vector<double>& shares, uint64_t seed)
{
    std::mt19937_64 random(seed);
    for (std::size_t left = shares.size(); left > 1; left--)
    {
        std::swap(shares[left - 1], shares[random() % left]);
    }
}

/** The exponent whose largest share is @p imbalance, by bisection: it grows with the exponent. */
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

/** Rows of a rank's router. */
uint64_t
TokensOf(const Transformer& model, const ParallelPlan& plan)
{
    return static_cast<uint64_t>(model.sequence) / plan.context * plan.microBatch /
           (plan.sequenceParallel ? plan.tensor : 1);
}

/** The local experts whose shares sum to most, of the ranks that share @p distributes in order. */
std::vector<double>
BusiestRank(const std::vector<double>& shares, uint32_t ranks)
{
    const std::size_t local = shares.size() / ranks;
    auto busiest = shares.begin();
    double most = 0;
    for (auto first = shares.begin(); first != shares.end(); first += static_cast<int64_t>(local))
    {
        const double sum = std::accumulate(first, first + static_cast<int64_t>(local), 0.0);
        if (sum > most)
        {
            most = sum;
            busiest = first;
        }
    }
    return {busiest, busiest + static_cast<int64_t>(local)};
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
    if (plan.expertLoad.IsBalanced())
    {
        return {};
    }
    const std::vector<double> shares = ExpertShares(plan.expertLoad, model.moe.experts);
    const std::size_t local = shares.size() / plan.expert;
    const double row = model.hidden * static_cast<double>(ActivationBytes(plan.precision));
    const double perExpert = static_cast<double>(TokensOf(model, plan)) * model.moe.topK /
                             static_cast<double>(model.moe.experts);
    std::vector<Bytes> parts;
    for (uint32_t rank = 0; rank < plan.expert; rank++)
    {
        const auto first = shares.begin() + static_cast<std::ptrdiff_t>(rank * local);
        const double share =
            std::accumulate(first, first + static_cast<std::ptrdiff_t>(local), 0.0);
        parts.push_back(Bytes::Nearest(std::round(perExpert * share) * row));
    }
    return std::vector<std::vector<Bytes>>(plan.expert, parts);
}

ExpertShape::ExpertShape(const Transformer& model, const ParallelPlan& plan)
    : tokens(TokensOf(model, plan))
{
    const ExpertLayers& moe = model.moe;
    const double pairs = static_cast<double>(tokens) * moe.topK;
    const double capacity = plan.expertLoad.capacityFactor;
    // With a capacity every rank sends every expert as many rows (Megatron-LM pads to it).
    const double perExpert =
        capacity > 0 ? std::ceil(pairs / moe.experts * capacity) : pairs / moe.experts;
    sent = static_cast<uint64_t>(std::llround(perExpert * moe.experts));
    const uint32_t tensor = plan.ExpertTensor();
    received = 0;
    for (const double share : BusiestRank(ExpertShares(plan.expertLoad, moe.experts), plan.expert))
    {
        // One expert gets its rows from every expert rank, and from every expert-tensor rank.
        const double rows = perExpert * share * plan.expert * tensor;
        expertRows.push_back(static_cast<uint64_t>(std::llround(rows)));
        received += expertRows.back();
    }
    ffn = moe.ffn / tensor;
    inner = (model.activation == ActivationKind::SwiGlu ? 2 : 1) * ffn;
    const uint64_t row = model.hidden * static_cast<uint64_t>(ActivationBytes(plan.precision));
    exchanged = Bytes(static_cast<int64_t>(sent * row));
    returned = exchanged;
    if (const auto traffic = ExpertTraffic(model, plan); !traffic.empty())
    {
        const std::vector<Bytes>& given = traffic.front(); // by every rank
        exchanged = std::accumulate(given.begin(), given.end(), Bytes());
        returned = *std::max_element(given.begin(), given.end()) * plan.expert;
    }
    gathered = Bytes(static_cast<int64_t>(received * row));
    parameters = static_cast<double>(expertRows.size()) * model.MlpParameters(moe.ffn) / tensor;
}

} // namespace weir
