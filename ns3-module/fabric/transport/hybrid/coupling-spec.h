// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H
#define WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/units.h"

#include <string>
#include <vector>

namespace weir
{

/** Parameters of the coupling of packets and fluid, and the links whose flows are packets. */
struct CouplingSpec : Parameterized
{
    Time window;
    bool insideNodes{false};
    std::vector<std::string> links{}; //!< link name patterns, "a->b" with * for any text

    void VisitParameters(ParameterVisitor& visitor) override;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H
