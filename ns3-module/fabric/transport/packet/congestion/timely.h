// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_TIMELY_H
#define WEIR_FABRIC_TRANSPORT_PACKET_TIMELY_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * TIMELY (Mittal et al., SIGCOMM 2015): rates follow the gradient of the round-trip time. The
 * patched variant of "ECN or Delay" (Zhu et al., CoNEXT 2016, algorithm 2) has a fair fixed point.
 */
class Timely : public CongestionControl
{
  public:
    Timely()
        : CongestionControl(
              "timely",
              "Rates follow the gradient of round-trip times (Mittal et al., SIGCOMM 2015).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    void Check() const override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    uint32_t HeaderBytes() const override
    {
        return timestampHeader;
    }

    bool patched{false};
    double gain{0.875};
    double decrease{0.8};
    Time low{Time::Microseconds(50)};
    Time high{Time::Microseconds(500)};
    Time least{Time::Microseconds(20)};
    Rate increase{Rate::Gbps(0.01)};
    Rate hyperIncrease{Rate::Gbps(0.05)};
    Rate increaseRate{Rate::Gbps(10)};
    uint32_t hyperAfter{5};
    Rate minimumRate{Rate::Gbps(0.01)};
    double startRate{1};
    Bytes window{Bytes(0)};
    bool windowOfPath{false};
    bool scaleWindow{true};
    uint32_t timestampHeader{8}; //!< bytes
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_TIMELY_H
