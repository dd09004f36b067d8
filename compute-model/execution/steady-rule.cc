// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/steady-rule.h"

#include "compute-model/execution/percentiles.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weir
{
namespace
{

constexpr double PI = 3.14159265358979323846;
constexpr double CONFIDENCE = 0.95;
constexpr double NORMAL_95 = 1.959963984540054; //!< two-sided, of the normal distribution

/**
 * The probability of |t| <= @p t. Abramowitz and Stegun, 26.7.3 (odd) and 26.7.4 (even), with
 * theta = atan(t / sqrt(freedom)):
 *     odd:   2 / pi (theta + sin(theta) (cos + 2/3 cos^3 + ... up to the power freedom - 2)),
 *     even:  sin(theta) (1 + 1/2 cos^2 + 1 3 / (2 4) cos^4 + ... up to the power freedom - 2).
 */
double
WithinProbability(double t, std::size_t freedom)
{
    const double theta = std::atan(t / std::sqrt(static_cast<double>(freedom)));
    const double cosine = std::cos(theta);
    const bool isOdd = freedom % 2 == 1;
    double term = isOdd ? cosine : 1;
    double sum = 0;
    for (std::size_t power = isOdd ? 1 : 0; power + 2 <= freedom; power += 2)
    {
        sum += term;
        term *= cosine * cosine * static_cast<double>(power + 1) / static_cast<double>(power + 2);
    }
    return isOdd ? 2 / PI * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

double
ByBisection(std::size_t freedom)
{
    constexpr int HALVINGS = 60;
    constexpr double MAX_QUANTILE = 16; // it is 12.7 at one degree of freedom
    double low = NORMAL_95;
    double high = MAX_QUANTILE;
    for (int i = 0; i < HALVINGS; i++)
    {
        const double middle = (low + high) / 2;
        (WithinProbability(middle, freedom) < CONFIDENCE ? low : high) = middle;
    }
    return (low + high) / 2;
}

/** Abramowitz and Stegun, 26.7.5. */
double
ByExpansion(std::size_t freedom)
{
    const double z = NORMAL_95;
    const double z2 = z * z;
    const double first = z * (z2 + 1) / 4;
    const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    const double fourth = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
    const double per = 1 / static_cast<double>(freedom);
    return z + per * (first + per * (second + per * (third + per * fourth)));
}

} // namespace

double
StudentT95(std::size_t freedom)
{
    constexpr std::size_t FROM = 30; // from here on the expansion's error is below 1e-7
    if (freedom == 0)
    {
        throw std::invalid_argument("StudentT95: no degrees of freedom");
    }
    return freedom < FROM ? ByBisection(freedom) : ByExpansion(freedom);
}

TimeSpread
SpreadOf(const std::vector<Time>& times)
{
    TimeSpread spread;
    if (times.empty())
    {
        return spread;
    }
    std::vector<double> seconds;
    for (const Time time : times)
    {
        seconds.push_back(time.ToSeconds());
    }
    const Percentiles percentiles = PercentilesOf(std::move(seconds));
    spread.median = percentiles.p50;
    spread.p95 = percentiles.p95;
    const auto count = static_cast<double>(times.size());
    for (const Time time : times)
    {
        spread.mean += time.ToSeconds() / count;
    }
    if (times.size() < 2)
    {
        return spread;
    }
    double squares = 0;
    for (const Time time : times)
    {
        const double off = (time - times.front()).ToSeconds();
        squares += off * off;
    }
    const double shift = spread.mean - times.front().ToSeconds();
    spread.deviation = std::sqrt(std::max(0.0, squares - count * shift * shift) / (count - 1));
    return spread;
}

bool
SteadyRule::IsMet(const std::vector<Time>& steps) const
{
    if (!IsOn() || steps.size() < MIN_STEPS)
    {
        return false;
    }
    const TimeSpread spread = SpreadOf(steps);
    return StudentT95(steps.size() - 1) * spread.deviation /
               std::sqrt(static_cast<double>(steps.size())) <=
           tolerance * spread.mean;
}

} // namespace weir
