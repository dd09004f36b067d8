// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

namespace weir
{

namespace
{

/** Packet spraying: every switch spreads the packets of a flow evenly over all shortest paths. */
class SprayRouting : public RoutingPolicy
{
  public:
    using RoutingPolicy::RoutingPolicy;

    Scope GetScope() const override
    {
        return Scope::Packet;
    }
};

} // namespace

std::unique_ptr<RoutingPolicy>
MakeSprayRouting(const FabricSpec& fabric)
{
    return std::make_unique<SprayRouting>(fabric.hashSeed);
}

} // namespace weir
