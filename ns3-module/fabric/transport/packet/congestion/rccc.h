// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * RCCC, the receiver-based congestion control of Ultra Ethernet (UEC specification 1.0; constants
 * as in htsim's uec.cpp): receivers give their senders credit in turns, at the rate of their port.
 * A sender begins with a window of its own.
 */
class Rccc : public CongestionControl
{
  public:
    const char* Name() const override;
    const char* Description() const override;
    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    uint32_t CreditPackets() const override
    {
        return credit;
    }

    double StartCredit(const ConnectionFacts& facts) const override
    {
        return startWindow * facts.BandwidthDelay();
    }

    uint32_t credit{4};
    double startWindow{1.5};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H
