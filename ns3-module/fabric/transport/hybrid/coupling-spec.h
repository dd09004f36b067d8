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

/** How packets and a fluid share links, and which flows are packets on account of their links. */
struct CouplingSpec : Parameterized
{
    Time window;
    bool insideNodes{false};
    std::vector<std::string> links{}; //!< names, "a->b" with * for any text

    void VisitParameters(ParameterVisitor& visitor) override;
};

/**
 * The links that @p pattern names, "a->b" with * for any text.
 * @throws std::invalid_argument where there are none.
 */
std::vector<LinkId> LinksNamed(const Topology& topology, const std::string& pattern);

/** Packets beside a fluid in plain values. */
struct HybridSpec
{
    PacketSpec packets;
    CouplingSpec coupling;
    SharingSpec sharing{};
    CorrectionSpec corrections{}; //!< of the fluid
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_HYBRID_COUPLING_SPEC_H
