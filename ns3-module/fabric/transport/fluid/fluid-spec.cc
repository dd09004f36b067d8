// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/fluid/fluid-spec.h"

namespace weir
{

void
SharingSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Number({"tolerance",
                    "Maximum deviation of a link's load from max-min sharing, as a fraction of its "
                    "capacity; it limits how far changes propagate. 0: exact."},
                   tolerance,
                   {0, 0.1});
}

} // namespace weir
