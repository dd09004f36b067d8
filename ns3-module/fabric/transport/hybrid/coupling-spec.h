// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H
#define WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/sharing/sharing-spec.h"
#include "fabric/topology/topology.h"
#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/packet/packet-spec.h"
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

/**
 * Finds the links whose name matches @p pattern, "a->b" with * for any text.
 * @throws std::invalid_argument if there are none.
 */
std::vector<LinkId> LinksNamed(const Topology& topology, const std::string& pattern);

/** Parameters of the hybrid transport. */
struct HybridSpec
{
    PacketSpec packets;
    CouplingSpec coupling;
    SharingSpec sharing{};
    CorrectionSpec corrections{}; //!< corrections of the fluid
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H
