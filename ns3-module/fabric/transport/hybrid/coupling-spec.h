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

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Duration(
            {"window",
             "Interval at which the fluid learns the rates of packets; 0: the shortest "
             "round-trip time of a packet flow."},
            window,
            {Time(), Time::Seconds(1)});
        visitor.Flag(
            {"insideNodes",
             "Whether traffic inside nodes also moves as packets, for jobs and events whose "
             "flows are packets; false: it is fluid."},
            insideNodes);
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H
