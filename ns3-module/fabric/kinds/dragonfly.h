// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DRAGONFLY_H
#define WEIR_FABRIC_DRAGONFLY_H

#include "fabric/kinds/dragonfly-groups.h"

namespace weir
{

/**
 * Joins the NICs by a dragonfly (Kim, Dally, Scott and Abts, ISCA 2008): g groups of a routers; a
 * router has p NICs, localLinks to every other router of its group and h global links.
 *
 * Wired: g a routers, g a (a - 1) / 2 x localLinks local and m g (g - 1) / 2 global wires, where
 * m = floor(a h / (g - 1)).
 */
class Dragonfly : public DragonflyGroups
{
  public:
    const char* Name() const override;
    const char* Description() const override;
    void VisitParameters(ParameterVisitor& visitor) override;
    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override;

  private:
    FabricSize GroupSize() const override;
    GlobalRouters GetGlobalRouters() const override;
};

} // namespace weir

#endif // WEIR_FABRIC_DRAGONFLY_H
