// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRAFFIC_SIZE_DISTRIBUTION_H
#define WEIR_SCENARIOS_TRAFFIC_SIZE_DISTRIBUTION_H

#include "fabric/units.h"

#include <utility>
#include <vector>

namespace weir
{

/** Flow sizes with a cumulative distribution function that is linear between its points. */
class SizeDistribution
{
  public:
    /** All flows have @p size. */
    explicit SizeDistribution(Bytes size = Bytes());

    /**
     * @param points (bytes, fraction of flows in [0, 1] that are at most this large), both
     *         ascending; the last fraction is 1
     * @throws std::invalid_argument when they are not ascending or the mean is zero.
     */
    explicit SizeDistribution(std::vector<std::pair<double, double>> points);

    /** Mean in bytes; each linear piece contributes its midpoint. */
    double Mean() const;

    /** The size that a fraction @p share in [0, 1) of flows does not exceed; at least one byte. */
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
