// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_PACKET_FORWARDING_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_PACKET_FORWARDING_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/routing/path-table.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

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

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_PACKET_FORWARDING_H
