// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/percentiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir
{

Percentiles
PercentilesOf(std::vector<double> values)
{
    if (values.empty())
    {
        return {};
    }
    const auto at = [&values](double part) {
        const double rank = std::ceil(part * static_cast<double>(values.size()));
        const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
        std::nth_element(values.begin(), nth, values.end());
        return *nth;
    };
    return {at(0.50), at(0.95), at(0.99)};
}

} // namespace weir
