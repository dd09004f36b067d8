// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/routing/path-table.h"
#include "fabric/topology/topology.h"
#include "fabric/transport/corrected/ingress-sharing.h"
#include "fabric/transport/corrected/rate-recovery.h"
#include "fabric/units.h"

#include <utility>
#include <vector>

namespace weir
{

/**
 * Store and forward: a switch passes a packet on when all of it is there. The last packet of a
 * message is sent once on every link, and on the slowest one it is part of the message's own time.
 */
struct PacketForwarding : Parameterized
{
    Bytes packet; //!< zero: off

    bool IsOn() const
    {
        return packet > Bytes();
    }

    /** Of a message of @p bytes, besides what a fluid takes; links inside nodes do not count. */
    Time DelayOf(Bytes bytes, PathTable::Span path, const Topology& topology) const;

    void VisitParameters(ParameterVisitor& visitor) override;
};

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

/** What packets do that a fluid does not see, as models that are each off by default. */
struct CorrectionSpec
{
    PacketForwarding forwarding;
    LinkUtilization utilization;
    RateRecovery recovery;
    IngressSharing ingress;

    bool IsOn() const
    {
        return forwarding.IsOn() || utilization.IsOn() || recovery.IsOn() || ingress.IsOn();
    }

    /** Its models and their keys. */
    std::vector<std::pair<const char*, Parameterized*>> Parts()
    {
        return {{"forwarding", &forwarding},
                {"utilization", &utilization},
                {"recovery", &recovery},
                {"ingress", &ingress}};
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H
