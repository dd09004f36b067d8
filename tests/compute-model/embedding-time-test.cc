// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/kernels/embedding-time.h"

#include "measured-kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

namespace weir
{
namespace
{

// n uniform lookups meet E (1 - (1 - 1/E)^n) distinct rows (the birthday problem); probabilities
// sum to one.
TEST(IndexDistribution, UniformUniqueRows)
{
    const IndexDistribution uniform = IndexDistribution::Uniform(1000);
    EXPECT_NEAR(uniform.UniqueRows(1000), 1000 * (1 - std::pow(0.999, 1000)), 1e-9);
    for (const double exponent : {0.0, 0.6, 1.0, 1.2})
    {
        const IndexDistribution zipf = IndexDistribution::Zipf(12345, exponent);
        double sum = 0;
        for (const RowClass& one : zipf.Classes())
        {
            sum += one.rows * one.probability;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT_NEAR(zipf.Rows(), 12345, 1e-6);
    }
}

// An observed list has its own frequencies: 1 and 2 occur twice, 3 once.
TEST(IndexDistribution, ObservedCounts)
{
    const IndexDistribution seen = IndexDistribution::Observed({1, 2, 1, 3, 2});
    ASSERT_EQ(seen.Classes().size(), 2U);
    EXPECT_EQ(seen.Rows(), 3);
    EXPECT_DOUBLE_EQ(seen.Classes()[1].probability, 0.4);
    EXPECT_THROW(IndexDistribution::Observed({}), std::invalid_argument);
    EXPECT_THROW(IndexDistribution::Uniform(0), std::invalid_argument);
}

/** Misses of a least-recently-used cache, simulated lookup by lookup. */
double
CountMisses(const std::vector<double>& probabilities, std::size_t lookups, std::size_t capacity)
{
    std::mt19937_64 random(7);
    std::discrete_distribution<std::size_t> draw(probabilities.begin(), probabilities.end());
    std::vector<std::size_t> cache; // most recent last
    double misses = 0;
    for (std::size_t i = 0; i < lookups; i++)
    {
        const std::size_t row = draw(random);
        const auto found = std::find(cache.begin(), cache.end(), row);
        if (found != cache.end())
        {
            cache.erase(found);
        }
        else
        {
            misses++;
            if (cache.size() == capacity)
            {
                cache.erase(cache.begin());
            }
        }
        cache.push_back(row);
    }
    return misses;
}

// Che's approximation against a simulated cache: within 3 % for uniform and Zipf lookups.
TEST(IndexDistribution, MissesAreThoseOfACache)
{
    const std::size_t rows = 400;
    const std::size_t lookups = 20000;
    for (const double exponent : {0.0, 0.8, 1.2})
    {
        std::vector<double> probabilities(rows);
        for (std::size_t k = 0; k < rows; k++)
        {
            probabilities[k] = std::pow(static_cast<double>(k + 1), -exponent);
        }
        const IndexDistribution indices = IndexDistribution::Zipf(rows, exponent);
        for (const std::size_t capacity : {20U, 100U, 300U})
        {
            const double counted = CountMisses(probabilities, lookups, capacity);
            EXPECT_NEAR(indices.Misses(lookups, static_cast<double>(capacity)) / counted, 1, 0.03)
                << exponent << " " << capacity;
        }
    }
}

// From a list of N rows, each once, n lookups meet n distinct rows, whatever the length of the
// list. With rows that occur c times they meet (N / c) (1 - (1 - n / N)^c), in the limit of large
// N.
TEST(EmbeddingTime, LongListsAreCountedAsShortOnes)
{
    for (const double all : {1e4, 1e8, 1e10, 1e12})
    {
        const IndexDistribution once = IndexDistribution::Counted({{all, 1}}, all);
        const IndexDistribution often = IndexDistribution::Counted({{all / 1000, 1000}}, all);
        for (const double lookups : {1.0, 100.0, 5000.0})
        {
            EXPECT_NEAR(once.UniqueRows(lookups) / lookups, 1, 1e-6) << all << " " << lookups;
            EXPECT_NEAR(once.ReuseFactors(lookups)[0], 1, 1e-6) << all << " " << lookups;
            const double met = all / 1000 * -std::expm1(1000 * std::log1p(-lookups / all));
            EXPECT_NEAR(often.UniqueRows(lookups) / met, 1, all < 1e6 ? 0.06 : 1e-4)
                << all << " " << lookups;
        }
    }
}

// The distribution is continuous at a Zipf exponent of 1.
TEST(EmbeddingTime, NothingJumpsAtAnExponentOfOne)
{
    const double atOne = IndexDistribution::Zipf(10'000'000, 1).UniqueRows(1'000'000);
    for (const double near : {1 - 1e-9, 1 - 1e-15, 1 + 1e-15, 1 + 1e-9})
    {
        EXPECT_NEAR(
            IndexDistribution::Zipf(10'000'000, near).UniqueRows(1'000'000) / atOne, 1, 1e-6);
    }
}

/** Distinct rows, lookups per row and cache misses of the first lookups of shuffled lists. */
struct Played
{
    double distinct{0};
    double misses{0};
    std::array<double, 17> reuse{};
};

Played
PlayList(std::vector<uint64_t> list, std::size_t lookups, std::size_t capacity)
{
    constexpr int TIMES = 20;
    std::mt19937_64 random(3);
    Played mean;
    for (int i = 0; i < TIMES; i++)
    {
        std::shuffle(list.begin(), list.end(), random);
        std::map<uint64_t, std::size_t> count;
        std::vector<uint64_t> cache; // most recent last
        for (std::size_t j = 0; j < lookups; j++)
        {
            const uint64_t row = list[j % list.size()];
            count[row]++;
            const auto found = std::find(cache.begin(), cache.end(), row);
            mean.misses += found == cache.end() ? 1.0 / TIMES : 0;
            if (found != cache.end())
            {
                cache.erase(found);
            }
            else if (cache.size() == capacity)
            {
                cache.erase(cache.begin());
            }
            cache.push_back(row);
        }
        mean.distinct += static_cast<double>(count.size()) / TIMES;
        for (const auto& [row, times] : count)
        {
            std::size_t bin = 0;
            while ((std::size_t{1} << bin) < times)
            {
                bin++;
            }
            mean.reuse[bin] += 1.0 / static_cast<double>(count.size()) / TIMES;
        }
    }
    return mean;
}

/** Draws from a Zipf distribution. */
std::vector<uint64_t>
DrawList(std::size_t rows, double exponent, std::size_t lookups)
{
    std::vector<double> weights(rows);
    for (std::size_t k = 0; k < rows; k++)
    {
        weights[k] = std::pow(static_cast<double>(k + 1), -exponent);
    }
    std::mt19937_64 random(9);
    std::discrete_distribution<uint64_t> draw(weights.begin(), weights.end());
    std::vector<uint64_t> list(lookups);
    for (uint64_t& row : list)
    {
        row = draw(random);
    }
    return list;
}

// Distinct rows in n draws: the variance of their number is at most its mean, because a draw of one
// row is a draw of no other. So the mean over T lists has a standard deviation of at most sqrt(mean
// / T); the tolerance is four of them.
TEST(IndexDistribution, DistinctRowsAreThoseOfDraws)
{
    constexpr std::size_t ROWS = 2000;
    constexpr int LISTS = 20;
    for (const double exponent : {0.0, 0.6, 1.0, 1.2})
    {
        const IndexDistribution indices = IndexDistribution::Zipf(ROWS, exponent);
        for (const std::size_t lookups : {300U, 3000U, 30000U})
        {
            const std::vector<uint64_t> draws = DrawList(ROWS, exponent, LISTS * lookups);
            double distinct = 0;
            for (auto list = draws.begin(); list != draws.end(); list += lookups)
            {
                distinct += static_cast<double>(std::set(list, list + lookups).size()) / LISTS;
            }
            const double expected = indices.UniqueRows(static_cast<double>(lookups));
            EXPECT_NEAR(distinct, expected, 4 * std::sqrt(expected / LISTS))
                << exponent << " " << lookups;
        }
    }
}

// Lookups of a list are sampled without replacement: the whole list meets exactly its rows, half of
// it the rows of a shuffled half, and twice the list meets no further row.
TEST(IndexDistribution, ListsAreNotDrawnAnew)
{
    for (const double exponent : {0.0, 0.7, 1.2})
    {
        const std::vector<uint64_t> list = DrawList(2000, exponent, 3000);
        const IndexDistribution seen = IndexDistribution::Observed(list);
        for (const std::size_t lookups : {300U, 1500U, 3000U, 6000U})
        {
            const Played played = PlayList(list, lookups, 150);
            const auto n = static_cast<double>(lookups);
            EXPECT_NEAR(seen.UniqueRows(n) / played.distinct, 1, 0.01) << exponent << lookups;
            EXPECT_NEAR(seen.Misses(n, 150) / played.misses, 1, 0.03) << exponent << lookups;
        }
        EXPECT_NEAR(seen.UniqueRows(3000), seen.Rows(), 1e-6);
    }
    std::vector<uint64_t> distinct(65536);
    std::iota(distinct.begin(), distinct.end(), 0);
    const IndexDistribution once = IndexDistribution::Observed(distinct);
    EXPECT_NEAR(once.UniqueRows(65536), 65536, 1e-6);
    EXPECT_NEAR(once.Misses(65536, 1000), 65536, 1e-6);
}

// The reuse histogram is one of counts, not of expectations: of 262144 uniform lookups in 1e6 rows
// 87.5 % of the rows met are met once (Poisson); observed lists have their own counts.
TEST(IndexDistribution, ReuseFactorsAreOfCounts)
{
    const auto uniform = IndexDistribution::Uniform(1000000).ReuseFactors(262144);
    const double mean = 0.262144;
    EXPECT_NEAR(uniform[0], mean * std::exp(-mean) / (1 - std::exp(-mean)), 1e-6);
    EXPECT_NEAR(uniform[1], mean * mean / 2 * std::exp(-mean) / (1 - std::exp(-mean)), 1e-6);
    for (const double exponent : {0.5, 1.1})
    {
        const std::vector<uint64_t> list = DrawList(1000, exponent, 4000);
        const auto drawn = IndexDistribution::Zipf(1000, exponent).ReuseFactors(4000);
        for (const std::size_t lookups : {1000U, 4000U})
        {
            const auto counted = PlayList(list, lookups, 1).reuse;
            const auto seen =
                IndexDistribution::Observed(list).ReuseFactors(static_cast<double>(lookups));
            EXPECT_NEAR(std::accumulate(seen.begin(), seen.end(), 0.0), 1, 1e-6);
            for (std::size_t bin = 0; bin < seen.size(); bin++)
            {
                EXPECT_NEAR(seen[bin], counted[bin], 0.01) << exponent << lookups << bin;
                if (lookups == 4000)
                {
                    EXPECT_NEAR(drawn[bin], counted[bin], 0.05) << exponent << bin;
                }
            }
        }
    }
}

// A cache that holds all rows misses only first accesses; an empty cache misses every lookup.
TEST(IndexDistribution, LimitsOfCaches)
{
    const IndexDistribution indices = IndexDistribution::Zipf(1000, 1);
    EXPECT_EQ(indices.Misses(5000, 1000), indices.UniqueRows(5000));
    EXPECT_NEAR(indices.Misses(5000, 1e-9), 5000, 1e-6);
    const auto reuse = indices.ReuseFactors(5000);
    EXPECT_NEAR(std::accumulate(reuse.begin(), reuse.end(), 0.0), 1, 1e-9);
}

// Skewed lookups are faster forward (caches) and slower backward (additions to one row serialize).
TEST(EmbeddingTime, SkewHelpsForwardAndHurtsBackward)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    EmbeddingShape shape;
    shape.bags = 65536;
    shape.pooling = 32;
    shape.dim = 128;
    const IndexDistribution even = IndexDistribution::Uniform(10'000'000);
    const IndexDistribution skewed = IndexDistribution::Zipf(10'000'000, 1.2);
    EXPECT_LT(EmbeddingForwardTime(gpu, {{skewed, shape}}).time,
              EmbeddingForwardTime(gpu, {{even, shape}}).time);
    EXPECT_GT(EmbeddingBackwardTime(gpu, {{skewed, shape}}).time,
              EmbeddingBackwardTime(gpu, {{even, shape}}).time);
    shape.dim = 0;
    EXPECT_THROW(EmbeddingForwardTime(gpu, {{even, shape}}), std::invalid_argument);
}

// A kernel takes at least the shortest time measured for its library: 1.28 us.
TEST(EmbeddingTime, NoKernelIsShorterThanAnyMeasured)
{
    const Gpu gpu = NamedGpu("h200-sxm");
    const IndexDistribution indices = IndexDistribution::Uniform(1'000'000);
    EmbeddingShape shape;
    shape.dim = 128;
    shape.pooling = 1;
    for (const uint64_t bags : {1U, 64U, 1024U})
    {
        shape.bags = bags;
        for (const KernelEstimate& estimate : {EmbeddingForwardTime(gpu, {{indices, shape}}),
                                               EmbeddingBackwardTime(gpu, {{indices, shape}})})
        {
            EXPECT_GE(estimate.time, Time::Nanoseconds(1280)) << bags;
        }
    }
}

} // namespace
} // namespace weir
