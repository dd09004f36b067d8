// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/steady-rule.h"

#include "compute-model/execution/student-t.h"

#include <algorithm>
#include <cmath>

namespace weir
{

namespace
{

/** Linear between ranks, in seconds; of at least one. */
double
PercentileOf(std::vector<Time> times, double part)
{
    std::sort(times.begin(), times.end());
    const double rank = part * static_cast<double>(times.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = std::min(below + 1, times.size() - 1);
    const double least = times[below].ToSeconds();
    return least + (rank - static_cast<double>(below)) * (times[above].ToSeconds() - least);
}

} // namespace

TimeSpread
SpreadOf(const std::vector<Time>& times)
{
    TimeSpread spread;
    if (times.empty())
    {
        return spread;
    }
    spread.median = PercentileOf(times, 0.5);
    spread.p95 = PercentileOf(times, 0.95);
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
