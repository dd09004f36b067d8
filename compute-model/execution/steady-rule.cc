// SPDX-License-Identifier: GPL-2.0-only
#include "compute-model/execution/steady-rule.h"

#include "compute-model/execution/student-t.h"

#include <algorithm>
#include <cmath>

namespace weir
{

TimeSpread
SpreadOf(const std::vector<Time>& times)
{
    TimeSpread spread;
    if (times.empty())
    {
        return spread;
    }
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
    if (!IsOn() || steps.size() < LEAST_STEPS)
    {
        return false;
    }
    const TimeSpread spread = SpreadOf(steps);
    return StudentT95(steps.size() - 1) * spread.deviation /
               std::sqrt(static_cast<double>(steps.size())) <=
           tolerance * spread.mean;
}

} // namespace weir
