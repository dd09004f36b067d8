// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

namespace weir
{

namespace
{

/** As adaptive routing, but a flow keeps its path until it has paused for a while (CONGA). */
class FlowletRouting : public RoutingPolicy
{
  public:
    FlowletRouting(uint64_t hashSeed, Time gap)
        : RoutingPolicy(hashSeed),
          m_gap(gap)
    {
    }

    Scope GetScope() const override
    {
        return Scope::Flowlet;
    }

    bool IsLoadAware() const override
    {
        return true;
    }

    Time FlowletGap() const override
    {
        return m_gap;
    }

  private:
    Time m_gap;
};

} // namespace

std::unique_ptr<RoutingPolicy>
MakeFlowletRouting(const FabricSpec& fabric)
{
    return std::make_unique<FlowletRouting>(fabric.hashSeed, fabric.flowletGap);
}

} // namespace weir
