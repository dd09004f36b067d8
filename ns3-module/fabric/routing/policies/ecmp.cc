// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

namespace weir
{

namespace
{

/** Equal-cost multipath: each switch hashes the flow's tuple (RFC 2992), with a salt of its own. */
class EcmpRouting : public RoutingPolicy
{
  public:
    using RoutingPolicy::RoutingPolicy;
};

} // namespace

std::unique_ptr<RoutingPolicy>
MakeEcmpRouting(const FabricSpec& fabric)
{
    return std::make_unique<EcmpRouting>(fabric.hashSeed);
}

} // namespace weir
