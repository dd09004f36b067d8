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
constexpr uint64_t MOST_ROWS = uint64_t{1} << 53; // that a double counts one by one
constexpr int HALVINGS = 60; // of the interval that holds a characteristic time

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
    const double ratio = std::log(high / low);
    const double b = 1 - a;
    return b == 0 ? ratio : std::pow(low, b) * std::expm1(b * ratio) / b; // near 1, too
}

/** ln of n over k. */
double
LogChoose(double n, double k)
{
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/** That @p drawn of @p all leave out each of @p some: C(all - some, drawn) / C(all, drawn). */
double
LeftOut(double all, double some, double drawn)
{
    if (some <= 0)
    {
        return 1;
    }
    return drawn > all - some ? 0 : std::exp(LogChoose(all - some, drawn) - LogChoose(all, drawn));
}

/** That @p n draws of probability @p p come up @p k times. */
double
Binomial(double n, double p, double k)
{
    if (k > n)
    {
        return 0;
    }
    return p >= 1 ? double(k == n)
                  : std::exp(LogChoose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
}

/**
 * That @p n of @p all look-ups hold @p k of those all * p of one row; of a list that is gone
 * through several times a row comes up in proportion.
 */
double
Hypergeometric(double all, double p, double n, double k)
{
    const double some = std::round(all * p);
    if (n >= all)
    {
        return double(std::round(some * n / all) == k);
    }
    if (k > some || k > n || n - k > all - some)
    {
        return 0;
    }
    return std::exp(LogChoose(some, k) + LogChoose(all - some, n - k) - LogChoose(all, n));
}

void
RequireRows(uint64_t rows)
{
    if (rows == 0)
    {
        throw std::invalid_argument("IndexDistribution: a table must have rows");
    }
    if (rows > MOST_ROWS)
    {
        throw std::invalid_argument("IndexDistribution: a table has at most 2^53 rows");
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
    IndexDistribution uniform({{static_cast<double>(rows), 1.0 / static_cast<double>(rows)}});
    uniform.m_exponent = 0;
    return uniform;
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
    IndexDistribution zipf = Histogram(std::move(classes));
    zipf.m_exponent = exponent;
    return zipf;
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
    if (table.classes.empty())
    {
        return Zipf(table.rows, table.zipf);
    }
    return table.observed > 0 ? Counted(table.classes, table.observed) : Histogram(table.classes);
}

IndexDistribution
IndexDistribution::Counted(std::vector<RowClass> classes, double observed)
{
    if (!(observed > 0))
    {
        throw std::invalid_argument("IndexDistribution: a list of look-ups must not be empty");
    }
    IndexDistribution counted = Histogram(std::move(classes));
    counted.m_observed = observed;
    return counted;
}

IndexDistribution
IndexDistribution::Observed(std::vector<uint64_t> indices)
{
    const auto lookups = static_cast<double>(indices.size());
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
    return Counted(std::move(classes), lookups);
}

double
IndexDistribution::Unseen(double probability, double lookups) const
{
    if (m_observed > 0)
    {
        return LeftOut(m_observed, probability * m_observed, lookups);
    }
    return probability >= 1 ? 0 : std::exp(lookups * std::log1p(-probability));
}

double
IndexDistribution::UnseenBefore(double probability, double window) const
{
    return m_observed > 0 ? LeftOut(m_observed - 1, probability * m_observed - 1, window)
                          : std::exp(-probability * window);
}

double
IndexDistribution::UniqueRows(double lookups) const
{
    double unique = 0;
    for (const RowClass& one : m_classes)
    {
        unique += one.rows * (1 - Unseen(one.probability, lookups));
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
            held += one.rows * (m_observed > 0 ? 1 - Unseen(one.probability, middle)
                                               : -std::expm1(-one.probability * middle));
        }
        (held < capacity ? low : high) = middle;
    }
    double misses = capacity; // while the cache fills, which takes as long
    for (const RowClass& one : m_classes)
    {
        misses += (lookups - low) * one.rows * one.probability * UnseenBefore(one.probability, low);
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
        const double share = one.rows / unique;
        double left = 1 - Unseen(one.probability, lookups); // rows met that are in no bin so far
        double count = 0;
        for (std::size_t bin = 0; bin + 1 < bins.size(); bin++)
        {
            double inside = 0;
            for (const double last = std::exp2(bin); count < last;)
            {
                count++;
                inside += m_observed > 0
                              ? Hypergeometric(m_observed, one.probability, lookups, count)
                              : Binomial(lookups, one.probability, count);
            }
            inside = std::min(inside, left);
            bins[bin] += share * inside;
            left -= inside;
        }
        bins.back() += share * left;
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
