// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

namespace weir
{

namespace
{

/**
 * Each flow takes the least loaded path when it starts, in a dragonfly a non-minimal one where that
 * is worth it (PathChoices::LeastLoaded).
 */
class AdaptiveRouting : public RoutingPolicy
{
  public:
    using RoutingPolicy::RoutingPolicy;

    bool IsLoadAware() const override
    {
        return true;
    }
};

} // namespace

std::unique_ptr<RoutingPolicy>
MakeAdaptiveRouting(const FabricSpec& fabric)
{
    return std::make_unique<AdaptiveRouting>(fabric.hashSeed);
}

} // namespace weir
