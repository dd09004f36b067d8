// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/conformal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr double NEGLIGIBLE = 1e-9; //!< of a rank: tolerance for rounding

/** The @p rank-th smallest value, from 1; infinite out of range. */
double
OrderStatistic(const std::vector<double>& sorted, double rank)
{
    if (rank < 1)
    {
        return -std::numeric_limits<double>::infinity();
    }
    return rank > static_cast<double>(sorted.size()) ? std::numeric_limits<double>::infinity()
                                                     : sorted[static_cast<std::size_t>(rank) - 1];
}

/** Absolute values of @p scores, sorted. */
std::vector<double>
Magnitudes(std::vector<double> scores)
{
    for (double& score : scores)
    {
        score = std::abs(score);
    }
    std::sort(scores.begin(), scores.end());
    return scores;
}

/** An interval about the median that can be widened. */
struct Span
{
    double lower{0};
    double middle{0};
    double upper{0};

    Span(std::vector<double> scores, double coverage)
    {
        std::sort(scores.begin(), scores.end());
        const ConformalInterval interval = IntervalOf(scores, coverage);
        lower = interval.lower;
        upper = interval.upper;
        middle = scores.empty() ? 0 : scores[scores.size() / 2];
    }

    double LowerEnd(double widening) const
    {
        return middle - (middle - lower) * widening;
    }

    double UpperEnd(double widening) const
    {
        return middle + (upper - middle) * widening;
    }
};

double
LogBeta(double a, double b)
{
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
}

/** P(count = k) of a beta-binomial, 0 <= k <= @p m; a, b > 0. */
double
BetaBinomial(double k, double m, double a, double b)
{
    const double logChoose = std::lgamma(m + 1) - std::lgamma(k + 1) - std::lgamma(m - k + 1);
    return std::exp(logChoose + LogBeta(k + a, m - k + b) - LogBeta(a, b));
}

constexpr double TAIL = 0.0005; //!< on either side of the central 99.9 %

/** The smallest count that is not in the lower tail. */
std::size_t
MinCount(double m, double a, double b)
{
    if (!(b > 0))
    {
        return static_cast<std::size_t>(m); // coverage one
    }
    double below = 0;
    double k = 0;
    while (k < m && (below += BetaBinomial(k, m, a, b)) < TAIL)
    {
        k++;
    }
    return static_cast<std::size_t>(k);
}

/** The largest count not in the upper tail: the count of the other cases has a and b exchanged. */
std::size_t
MaxCount(double m, double a, double b)
{
    return static_cast<std::size_t>(m) - (b > 0 ? MinCount(m, b, a) : 0);
}

} // namespace

ConformalInterval
IntervalOf(const std::vector<double>& sorted, double coverage)
{
    if (!(coverage > 0 && coverage < 1))
    {
        throw std::invalid_argument("a coverage lies between 0 and 1");
    }
    const double positions = static_cast<double>(sorted.size()) + 1;
    const double low = std::floor(positions * (1 - coverage) / 2 + NEGLIGIBLE);
    const double high = std::ceil(positions * (1 + coverage) / 2 - NEGLIGIBLE);
    ConformalInterval interval;
    if (low >= 1)
    {
        interval.lower = OrderStatistic(sorted, low);
        interval.upper = OrderStatistic(sorted, high);
        interval.ranks = static_cast<std::size_t>(high - low);
    }
    else
    {
        const double rank = std::min(positions, std::ceil(positions * coverage - NEGLIGIBLE));
        interval.upper = OrderStatistic(Magnitudes(sorted), rank);
        interval.lower = -interval.upper;
        interval.ranks = static_cast<std::size_t>(rank);
    }
    interval.inside =
        static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), interval.upper) -
                                 std::lower_bound(sorted.begin(), sorted.end(), interval.lower));
    return interval;
}

NestedInterval
IntervalOfParts(const std::vector<std::vector<double>>& parts, double coverage)
{
    constexpr double STEP = 0.01;
    constexpr int MAX_STEPS = 900;
    std::vector<double> all;
    std::vector<Span> others; // by part
    for (const auto& part : parts)
    {
        all.insert(all.end(), part.begin(), part.end());
        std::vector<double> rest;
        for (const auto& other : parts)
        {
            if (&other != &part)
            {
                rest.insert(rest.end(), other.begin(), other.end());
            }
        }
        others.emplace_back(std::move(rest), coverage);
    }
    const auto nested = [&](double widening) {
        std::size_t inside = 0;
        for (std::size_t i = 0; i < parts.size(); i++)
        {
            const double lower = others[i].LowerEnd(widening);
            const double upper = others[i].UpperEnd(widening);
            inside += std::count_if(parts[i].begin(), parts[i].end(), [&](double score) {
                return score >= lower && score <= upper;
            });
        }
        return all.empty() ? 0 : static_cast<double>(inside) / static_cast<double>(all.size());
    };
    int steps = 0;
    while (steps <= MAX_STEPS && nested(1 + STEP * steps) < coverage)
    {
        steps++;
    }
    const double widening = steps > MAX_STEPS ? 1 : 1 + STEP * steps;
    const double held = nested(widening);
    const Span span(std::move(all), coverage);
    return {span.LowerEnd(widening), span.UpperEnd(widening), held};
}

CoverageRange
ExpectedCount(const ConformalInterval& interval, std::size_t n, std::size_t fresh)
{
    const double positions = static_cast<double>(n) + 1;
    const auto m = static_cast<double>(fresh);
    const auto ranks = static_cast<double>(interval.ranks);
    const double max = std::max(ranks, static_cast<double>(interval.inside) + 1);
    return {MinCount(m, ranks, positions - ranks), MaxCount(m, max, positions - max)};
}

} // namespace weir
