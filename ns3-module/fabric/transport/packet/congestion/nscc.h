// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * NSCC, the sender-based congestion control of Ultra Ethernet (UEC specification 1.0; constants as
 * in htsim's uec.cpp): a window that marks and queueing delay move together.
 */
class Nscc : public CongestionControl
{
  public:
    const char* Name() const override;
    const char* Description() const override;
    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    double target{0.75};
    double startWindow{1.5};
    double gain{0.0125};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
