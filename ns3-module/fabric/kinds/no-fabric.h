// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_NO_FABRIC_H
#define WEIR_FABRIC_NO_FABRIC_H

#include "fabric/kinds/fabric-kind.h"

namespace weir
{

/**
 * Nodes that nothing joins: a single one, or several that never talk to each other. A kind as any
 * other, so that whoever has a fabric has a kind and need not ask whether there is one.
 */
class NoFabric : public FabricKind
{
  public:
    NoFabric()
        : FabricKind("none", "A single node, or nodes that are not joined.")
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
