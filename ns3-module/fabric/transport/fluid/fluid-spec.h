// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_FLUID_FLUID_SPEC_H
#define WEIR_FABRIC_TRANSPORT_FLUID_FLUID_SPEC_H

#include "fabric/parameters/parameter-visitor.h"

namespace weir
{

/** How fluid flows share links. */
struct SharingSpec : Parameterized
{
    double tolerance{0}; //!< of a link's load, as a fraction of its capacity; 0: exact

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Number(
            {"tolerance",
             "Maximum deviation of a link's load from max-min sharing, as a fraction of its "
             "capacity; it limits how far changes propagate. 0: exact."},
            tolerance,
            {0, 0.1});
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_FLUID_FLUID_SPEC_H
