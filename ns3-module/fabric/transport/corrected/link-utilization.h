// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_LINK_UTILIZATION_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_LINK_UTILIZATION_H

#include "fabric/parameters/parameter-visitor.h"

namespace weir
{

/**
 * The part of a network link's rate that flows get: less than one where congestion control aims
 * below it, and where acknowledgments take some.
 */
struct LinkUtilization : Parameterized
{
    double ofLink{1};

    bool IsOn() const
    {
        return ofLink < 1;
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_LINK_UTILIZATION_H
