// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_DRAGONFLY_PLUS_H
#define WEIR_FABRIC_DRAGONFLY_PLUS_H

#include "fabric/kinds/dragonfly-groups.h"

namespace weir
{

/**
 * A dragonfly of leaf-spine groups: dragonfly+ (Shpiner et al., HiPINEB 2017). A group has leaves
 * with p NICs each and spines with h global links each; every leaf has localLinks to every spine.
 */
class DragonflyPlus : public DragonflyGroups
{
  public:
    uint32_t spinesPerGroup{4};

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

#endif // WEIR_FABRIC_DRAGONFLY_PLUS_H
