// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_LEAF_SPINE_H
#define WEIR_FABRIC_LEAF_SPINE_H

#include "fabric/kinds/clos-fabric.h"

namespace weir
{

/**
 * Joins the nodes by leaves that take whole nodes: as many as the down ports of a leaf hold, all
 * NICs of a node on one leaf. Uplinks and spines are as in RailOptimized.
 */
class LeafSpine : public ClosFabric
{
  public:
    const char* Name() const override;
    const char* Description() const override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;
};

} // namespace weir

#endif // WEIR_FABRIC_LEAF_SPINE_H
