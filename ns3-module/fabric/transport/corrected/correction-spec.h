// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_CORRECTION_SPEC_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/routing/path-table.h"
#include "fabric/topology/topology.h"
#include "fabric/units.h"

#include <utility>
#include <vector>

/** @file Parameters of the corrections of the fluid model for packet effects. */
namespace weir
{

/**
 * Store-and-forward delay: a switch forwards a packet after it has received all of it. The last
 * packet of a message is sent once on every link; its time on the slowest link is part of the
 * message's own transmission time.
 */
struct PacketForwarding : Parameterized
{
    Bytes packet; //!< size of a full packet; zero: off

    bool IsOn() const
    {
        return packet > Bytes();
    }

    /** Delay of a message of @p bytes beyond its fluid time. Links inside nodes do not count. */
    Time DelayOf(Bytes bytes, PathTable::Span path, const Topology& topology) const;

    void VisitParameters(ParameterVisitor& visitor) override;
};

/**
 * Fraction of a network link's rate that flows get. It is below one if congestion control aims
 * below the full rate, or if acknowledgments take some of it.
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

/**
 * Slow rate recovery of a congestion control such as DCQCN. A flow starts at the rate of its
 * sender's port. Where the flows of a port exceed its rate, its queue grows. When the queue marks
 * packets, flows that have more to send are cut. In each period after that queue has drained, a
 * flow regains half of what it lacks of its sender's port rate.
 */
struct RateRecovery : Parameterized
{
    Time period; //!< time of one recovery step; zero: off
    Bytes markFrom{Bytes::KiB(100)};
    double floor{0.05};

    bool IsOn() const
    {
        return period > Time();
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

/**
 * Sharing by ingress link, as FIFO queues do it if only pauses or credits slow senders: a port
 * divides its rate among the links by which packets arrive, not among flows, and a held-back link
 * holds back all its flows (head-of-line blocking).
 */
struct IngressSharing : Parameterized
{
    bool shares{false}; //!< whether the model is on
    double blocking{0};

    bool IsOn() const
    {
        return shares;
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Corrections of the fluid model for packet effects. Each is off by default. */
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

    /** The models, each with its YAML key. */
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
