// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/index-distribution.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace weir
{

namespace
{

constexpr double CLASS_WIDTH = 1.15; // ratio of the last to the first row of a class
constexpr uint64_t SUMMED_ROWS =
    32; // sums of up to so many rows are exact, longer ones are integrated
constexpr uint64_t MAX_ROWS = uint64_t{1} << 53; // up to which a double counts exactly
constexpr int HALVINGS = 60;                     // bisection steps for the characteristic time

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
    return b == 0 ? ratio
                  : std::pow(low, b) * std::expm1(b * ratio) / b; // accurate near a = 1, too
}

/** ln of the binomial coefficient C(n, k). */
double
LogChoose(double n, double k)
{
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/**
 * ln of C(all - some, drawn) / C(all, drawn), the probability that @p drawn samples of @p all
 * without replacement contain none of @p some: the sum of ln(1 - many / (all - i)) over i < few,
 * where few and many are the smaller and the larger of some and drawn. Long sums use the midpoint
 * rule; the integrals are written to avoid cancellation.
 */
double
LogLeftOut(double all, double some, double drawn)
{
    constexpr double SUMMED = 64;
    const double few = std::min(some, drawn);
    const double many = std::max(some, drawn);
    if (few <= SUMMED)
    {
        double sum = 0;
        for (double i = 0; i < few; i++)
        {
            sum += std::min(1.0, few - i) * std::log1p(-many / (all - i));
        }
        return sum;
    }
    const double whole = all + 0.5;
    const double rest = whole - many;
    return few * std::log1p(-many / whole) - (rest - few) * std::log1p(-few / rest) +
           (whole - few) * std::log1p(-few / whole);
}

/** Probability that @p drawn samples of @p all without replacement contain none of @p some. */
double
LeftOut(double all, double some, double drawn)
{
    if (some <= 0 || drawn <= 0)
    {
        return 1;
    }
    return drawn > all - some ? 0 : std::exp(LogLeftOut(all, some, drawn));
}

/** Probability that they contain some, accurate near zero. */
double
NotLeftOut(double all, double some, double drawn)
{
    if (some <= 0 || drawn <= 0)
    {
        return 0;
    }
    return drawn > all - some ? 1 : -std::expm1(LogLeftOut(all, some, drawn));
}

/** Probability that @p n draws of probability @p p succeed @p k times. */
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
 * Probability that one row occurs k times in look-ups sampled from a list without replacement
 * (hypergeometric, by recurrence for consecutive k). In look-ups that exceed the list, the row
 * occurs in proportion.
 */
class HypergeometricCounts
{
  public:
    HypergeometricCounts(double all, double probability, double lookups)
        : m_all(all),
          m_some(std::round(all * probability)),
          m_lookups(lookups)
    {
    }

    double Of(double k)
    {
        if (m_lookups >= m_all)
        {
            return double(std::round(m_some * m_lookups / m_all) == k);
        }
        if (k > m_some || k > m_lookups || m_lookups - k > m_all - m_some)
        {
            return 0;
        }
        m_log = k == m_last + 1 ? m_log + LogOfStep(k) : LogOf(k);
        m_last = k;
        return std::exp(m_log);
    }

  private:
    /** ln of the probability of k occurrences over that of k - 1. */
    double LogOfStep(double k) const
    {
        const double others = m_all - m_some - m_lookups + k;
        return std::log((m_some - k + 1) / k * ((m_lookups - k + 1) / others));
    }

    /**
     * ln of the probability of k occurrences: the choices of k look-ups, times the probability that
     * they access the row and that the others do not.
     */
    double LogOf(double k) const
    {
        double ofThose = 0;
        for (double i = 0; i < k; i++)
        {
            ofThose += std::log((m_lookups - i) / (k - i) * ((m_some - i) / (m_all - i)));
        }
        return ofThose + LogLeftOut(m_all - k, m_some - k, m_lookups - k);
    }

    double m_all;
    double m_some;
    double m_lookups;
    double m_last{-1}; //!< k of m_log
    double m_log{0};
};

void
RequireRows(uint64_t rows)
{
    if (rows == 0)
    {
        throw std::invalid_argument("IndexDistribution: a table must have rows");
    }
    if (rows > MAX_ROWS)
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
        throw std::invalid_argument(
            "IndexDistribution: all rows have a probability of zero, expected a positive one");
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
    constexpr double ROUNDING = 1e-6;
    IndexDistribution counted = Histogram(std::move(classes));
    for (RowClass& one : counted.m_classes)
    {
        const double count = std::round(one.probability * observed);
        if (std::abs(one.probability * observed - count) > ROUNDING * std::max(1.0, count))
        {
            std::ostringstream text;
            text << "IndexDistribution: a row occurs " << one.probability * observed << " times in "
                 << observed << " look-ups";
            throw std::invalid_argument(text.str());
        }
        one.probability = count / observed;
    }
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
IndexDistribution::Seen(double probability, double lookups) const
{
    if (m_observed > 0)
    {
        return NotLeftOut(m_observed, probability * m_observed, lookups);
    }
    return probability >= 1 ? 1 : -std::expm1(lookups * std::log1p(-probability));
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
        unique += one.rows * Seen(one.probability, lookups);
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
            held += one.rows * (m_observed > 0 ? Seen(one.probability, middle)
                                               : -std::expm1(-one.probability * middle));
        }
        (held < capacity ? low : high) = middle;
    }
    double misses = capacity; // misses while the cache fills
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
        double left =
            Seen(one.probability, lookups); // probability of accesses that are in no bin yet
        double count = 0;
        HypergeometricCounts ofList(m_observed, one.probability, lookups);
        for (std::size_t bin = 0; bin + 1 < bins.size(); bin++)
        {
            double inside = 0;
            for (const double last = std::exp2(bin); count < last;)
            {
                count++;
                inside +=
                    m_observed > 0 ? ofList.Of(count) : Binomial(lookups, one.probability, count);
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
