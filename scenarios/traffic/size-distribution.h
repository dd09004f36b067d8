// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_SIZE_DISTRIBUTION_H
#define WEIR_SCENARIOS_TRAFFIC_SIZE_DISTRIBUTION_H

#include "fabric/units.h"

#include <utility>
#include <vector>

namespace weir
{

/** Sizes of flows by a cumulative distribution that is linear between its points. */
class SizeDistribution
{
  public:
    /** One size for all. */
    explicit SizeDistribution(Bytes size = Bytes());

    /**
     * @param points (bytes, part of flows in [0, 1] that are at most so large), both rising, the
     *        last part 1
     * @throws std::invalid_argument where they are not, or the mean is zero.
     */
    explicit SizeDistribution(std::vector<std::pair<double, double>> points);

    /** In bytes; the mean of each piece is its middle. */
    double Mean() const;

    /** The size that a part @p share in [0, 1) of flows does not exceed, one byte at least. */
    Bytes Quantile(double share) const;

    const std::vector<std::pair<double, double>>& Points() const
    {
        return m_points;
    }

  private:
    std::vector<std::pair<double, double>> m_points;
};

} // namespace weir

#endif // WEIR_SCENARIOS_TRAFFIC_SIZE_DISTRIBUTION_H
