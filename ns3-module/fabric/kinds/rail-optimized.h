// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_RAIL_OPTIMIZED_H
#define WEIR_FABRIC_RAIL_OPTIMIZED_H

#include "fabric/kinds/clos-fabric.h"

namespace weir
{

/**
 * Joins the nodes by rails: with D down ports on a leaf, D nodes form a group, and leaf r of a
 * group takes NIC r of every node in it. Leaves are numbered group by group, rail by rail.
 *
 * All leaves have the same uplinks, enough for the largest group; they spread evenly over spines
 * that each reach every leaf. Spines have leafRadix ports as long as these reach all leaves, and
 * one port per leaf beyond that (modular switches). With one leaf there are no spines.
 */
class RailOptimized : public ClosFabric
{
  public:
    const char* Name() const override;
    const char* Description() const override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
};

} // namespace weir

#endif // WEIR_FABRIC_RAIL_OPTIMIZED_H
