// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NO_FABRIC_H
#define WEIR_FABRIC_NO_FABRIC_H

#include "fabric/kinds/fabric-kind.h"

namespace weir
{

/**
 * No fabric: a single node, or several nodes that do not communicate. It is a kind like any other,
 * so that every fabric has a kind and no code must handle a missing one.
 */
class NoFabric : public FabricKind
{
  public:
    NoFabric()
        : FabricKind("none", "No network: a single node, or nodes that are not connected.")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override
    {
    }

    void Wire(Topology& topology,
              const ClusterSpec& spec,
              const std::vector<DeviceId>& nics) const override
    {
    }

    bool JoinsNodes() const override
    {
        return false;
    }
};

} // namespace weir

#endif // WEIR_FABRIC_NO_FABRIC_H
