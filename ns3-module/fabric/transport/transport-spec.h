// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_TRANSPORT_SPEC_H
#define WEIR_FABRIC_TRANSPORT_TRANSPORT_SPEC_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/fluid/fluid-spec.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/units.h"

#include <optional>
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

/** Selects the transport model of a fabric. */
struct TransportSpec
{
    std::optional<PacketSpec> packets{};    //!< packet model; empty: fluid
    std::optional<CouplingSpec> coupling{}; //!< hybrid: some flows as packets, the others as a
                                            //!< fluid
    SharingSpec sharing{};                  //!< how fluid flows share links
    CorrectionSpec corrections{};           //!< corrections of the fluid model
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_TRANSPORT_SPEC_H
