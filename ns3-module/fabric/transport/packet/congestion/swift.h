// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_SWIFT_H
#define WEIR_FABRIC_TRANSPORT_PACKET_SWIFT_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * Swift (Kumar et al., SIGCOMM 2020): windows follow the delay relative to a target that grows with
 * the number of hops and for small windows. Windows below one packet become a pacing rate.
 */
class Swift : public CongestionControl
{
  public:
    Swift()
        : CongestionControl("swift",
                            "Windows follow delay over a target (Kumar et al., SIGCOMM 2020).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    void Check() const override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    double increase{1};
    double decrease{0.8};
    double maxDecrease{0.5};
    Time target{Time::Microseconds(20)};
    Time perHop{Time::Microseconds(3)};
    Time scaling{Time::Microseconds(30)}; //!< largest addition to the target for small windows
                                          //!< (flow scaling)
    double scalingFrom{0.1};
    double scalingTo{100};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_SWIFT_H
