// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/policies.h"

namespace weir
{

const std::vector<RoutingChoice>&
RoutingChoices()
{
    static const std::vector<RoutingChoice> choices{
        {"static", RoutingKind::Static, MakeStaticRouting},
        {"ecmp", RoutingKind::Ecmp, MakeEcmpRouting},
        {"dimension-order", RoutingKind::DimensionOrder, MakeDimensionOrderRouting},
        {"valiant", RoutingKind::Valiant, MakeValiantRouting},
        {"adaptive", RoutingKind::Adaptive, MakeAdaptiveRouting},
        {"flowlet", RoutingKind::Flowlet, MakeFlowletRouting},
        {"spray", RoutingKind::Spray, MakeSprayRouting},
    };
    return choices;
}

} // namespace weir
