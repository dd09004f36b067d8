// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/routing/policies/flowlet.h"

namespace weir
{

void
FlowletRouting::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Duration({"flowletGap",
                      "A pause that ends a flowlet.",
                      "CONGA (Alizadeh et al., SIGCOMM 2014), section 3.4"},
                     gap,
                     {Time(), Time::Seconds(1)});
}

} // namespace weir
