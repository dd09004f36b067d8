// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/size-distribution.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weir
{

SizeDistribution::SizeDistribution(Bytes size)
    : m_points{{size.ToDouble(), 1}}
{
}

SizeDistribution::SizeDistribution(std::vector<std::pair<double, double>> points)
    : m_points(std::move(points))
{
    std::pair<double, double> last{0, 0};
    for (const auto& point : m_points)
    {
        if (!(point.first >= last.first && point.second >= last.second && point.second <= 1))
        {
            throw std::invalid_argument(
                "found decreasing points, expected increasing bytes and fractions");
        }
        last = point;
    }
    if (m_points.empty() || last.second != 1)
    {
        throw std::invalid_argument(
            "found a last point below 100 percent, expected 100 percent there");
    }
    if (!(Mean() > 0))
    {
        throw std::invalid_argument("found a mean of zero bytes, expected more");
    }
}

double
SizeDistribution::Mean() const
{
    double mean = m_points.front().second * m_points.front().first;
    for (std::size_t i = 1; i < m_points.size(); i++)
    {
        mean += (m_points[i].second - m_points[i - 1].second) *
                (m_points[i].first + m_points[i - 1].first) / 2;
    }
    return mean;
}

Bytes
SizeDistribution::Quantile(double share) const
{
    const auto above =
        std::upper_bound(m_points.begin(), m_points.end(), share, [](double part, const auto& p) {
            return part < p.second;
        });
    if (above == m_points.begin() || above == m_points.end())
    {
        const double size = above == m_points.end() ? m_points.back().first : above->first;
        return Bytes(std::max<int64_t>(1, std::llround(size)));
    }
    const auto& [low, lowPart] = *(above - 1);
    const double part = (share - lowPart) / (above->second - lowPart);
    return Bytes(std::max<int64_t>(1, std::llround(low + part * (above->first - low))));
}

} // namespace weir
