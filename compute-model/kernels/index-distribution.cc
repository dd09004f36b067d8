// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/index-distribution.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr double CLASS_WIDTH = 1.15; // ratio of the last to the first row of a class
constexpr uint64_t SUMMED_ROWS = 32; // classes up to so many rows are summed, not integrated
constexpr int HALVINGS = 60;         // of the interval that holds a characteristic time

/** Sum of k^-a over first <= k < end; long sums by the midpoint rule. */
double
PowerSum(uint64_t first, uint64_t end, double a)
{
    if (end - first <= SUMMED_ROWS)
    {
        double sum = 0;
        for (uint64_t k = first; k < end; k++)
        {
            sum += std::pow(static_cast<double>(k), -a);
        }
        return sum;
    }
    const double low = static_cast<double>(first) - 0.5;
    const double high = static_cast<double>(end) - 0.5;
    return a == 1 ? std::log(high / low) : (std::pow(high, 1 - a) - std::pow(low, 1 - a)) / (1 - a);
}

void
RequireRows(uint64_t rows)
{
    if (rows == 0)
    {
        throw std::invalid_argument("IndexDistribution: a table must have rows");
    }
}

} // namespace

IndexDistribution::IndexDistribution(std::vector<RowClass> classes)
    : m_classes(std::move(classes))
{
}

IndexDistribution
IndexDistribution::Uniform(uint64_t rows)
{
    RequireRows(rows);
    return IndexDistribution({{static_cast<double>(rows), 1.0 / static_cast<double>(rows)}});
}

IndexDistribution
IndexDistribution::Zipf(uint64_t rows, double exponent)
{
    RequireRows(rows);
    if (!(exponent >= 0))
    {
        throw std::invalid_argument("IndexDistribution: a Zipf exponent must not be negative");
    }
    std::vector<RowClass> classes;
    for (uint64_t first = 1; first <= rows;)
    {
        const auto wide = static_cast<uint64_t>(static_cast<double>(first) * CLASS_WIDTH);
        const uint64_t end = std::min(std::max(first + 1, wide), rows + 1);
        const double count = static_cast<double>(end - first);
        classes.push_back({count, PowerSum(first, end, exponent) / count});
        first = end;
    }
    return Histogram(std::move(classes));
}

IndexDistribution
IndexDistribution::Histogram(std::vector<RowClass> classes)
{
    double sum = 0;
    for (const RowClass& one : classes)
    {
        if (!(one.rows >= 0) || !(one.probability >= 0))
        {
            throw std::invalid_argument("IndexDistribution: rows and shares must not be negative");
        }
        sum += one.rows * one.probability;
    }
    if (!(sum > 0) || !std::isfinite(sum))
    {
        throw std::invalid_argument("IndexDistribution: no row is ever looked up");
    }
    for (RowClass& one : classes)
    {
        one.probability /= sum;
    }
    return IndexDistribution(std::move(classes));
}

IndexDistribution
IndexDistribution::Of(const EmbeddingTable& table)
{
    return table.classes.empty() ? Zipf(table.rows, table.zipf) : Histogram(table.classes);
}

IndexDistribution
IndexDistribution::Observed(std::vector<uint64_t> indices)
{
    std::sort(indices.begin(), indices.end());
    std::map<std::size_t, double> rowsByCount;
    for (auto first = indices.begin(); first != indices.end();)
    {
        const auto end = std::upper_bound(first, indices.end(), *first);
        rowsByCount[static_cast<std::size_t>(end - first)] += 1;
        first = end;
    }
    std::vector<RowClass> classes;
    for (const auto& [count, rows] : rowsByCount)
    {
        classes.push_back({rows, static_cast<double>(count)});
    }
    return Histogram(std::move(classes));
}

double
IndexDistribution::UniqueRows(double lookups) const
{
    double unique = 0;
    for (const RowClass& one : m_classes)
    {
        const double unseen =
            one.probability >= 1 ? 0 : std::exp(lookups * std::log1p(-one.probability));
        unique += one.rows * (1 - unseen);
    }
    return unique;
}

double
IndexDistribution::Misses(double lookups, double capacity) const
{
    const double unique = UniqueRows(lookups);
    if (unique <= capacity)
    {
        return unique;
    }
    double low = 0;
    double high = lookups;
    for (int i = 0; i < HALVINGS; i++)
    {
        const double middle = (low + high) / 2;
        double held = 0;
        for (const RowClass& one : m_classes)
        {
            held -= one.rows * std::expm1(-one.probability * middle);
        }
        (held < capacity ? low : high) = middle;
    }
    double misses = capacity; // while the cache fills, which takes as long
    for (const RowClass& one : m_classes)
    {
        misses += (lookups - low) * one.rows * one.probability * std::exp(-one.probability * low);
    }
    return misses;
}

std::array<double, 17>
IndexDistribution::ReuseFactors(double lookups) const
{
    std::array<double, 17> bins{};
    const double unique = UniqueRows(lookups);
    for (const RowClass& one : m_classes)
    {
        const double seen = -std::expm1(-one.probability * lookups);
        const double times = std::max(1.0, one.probability * lookups / std::max(seen, 1e-300));
        const double bin = std::min(16.0, std::ceil(std::log2(times) - 1e-9));
        bins[static_cast<std::size_t>(std::max(0.0, bin))] += one.rows * seen / unique;
    }
    return bins;
}

double
IndexDistribution::Rows() const
{
    double rows = 0;
    for (const RowClass& one : m_classes)
    {
        rows += one.rows;
    }
    return rows;
}

} // namespace weir
