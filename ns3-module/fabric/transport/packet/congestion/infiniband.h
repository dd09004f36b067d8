// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H
#define WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * InfiniBand's congestion control (IBA volume 1, annex A10): switches set FECN on packets that
 * leave a port at the root of congestion, receivers return it as BECN with their acknowledgments,
 * and each BECN moves the sender on in a table of pauses, the congestion control table. A timer
 * moves it back by one. A packet of time T at entry i is followed by a pause of i * tableStep * T,
 * so that the rate is that of the line over 1 + i * tableStep.
 *
 * Its marks are those of `switch` with `markRoots`, and the threshold as both markFrom and markAll.
 */
class Infiniband : public CongestionControl
{
  public:
    Infiniband()
        : CongestionControl(
              "infiniband",
              "A table of pauses between packets in which marks lead on and a timer leads back "
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
