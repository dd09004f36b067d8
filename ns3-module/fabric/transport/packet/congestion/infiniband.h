// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H
#define WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * InfiniBand's congestion control (IBA volume 1, annex A10). Switches set FECN on packets that
 * leave a port at the root of congestion, and receivers return it as BECN in their acknowledgments.
 * Each BECN moves the sender forward in the congestion control table, a table of inter-packet
 * delays. A timer moves it back by one entry. At entry i, a packet of transmission time T is
 * followed by a delay of i * tableStep * T, so that the rate is the line rate divided by 1 + i *
 * tableStep.
 *
 * Use it with `markRoots` of `switch`, and set both markFrom and markAll to the threshold.
 */
class Infiniband : public CongestionControl
{
  public:
    Infiniband()
        : CongestionControl("infiniband",
                            "Marks advance in a table of inter-packet delays, a timer goes back "
                            "(InfiniBand Architecture, annex A10).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;
    Time Period() const override;

    uint32_t increase{1};
    uint32_t limit{127};
    Time timer{Time::Nanoseconds(153600)};
    double tableStep{0.125};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H
