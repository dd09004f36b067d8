// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/sharing-spec.h"

namespace weir
{

void
SharingSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"tolerance",
                    "Part of its capacity by which the load of a link may be off from max-min "
                    "sharing, so that a change goes no further than it matters; 0: exact."},
                   tolerance,
                   {0, 0.1});
}

} // namespace weir
