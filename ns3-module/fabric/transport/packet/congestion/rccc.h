// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * RCCC, the receiver-based congestion control of Ultra Ethernet (UEC specification 1.0; constants
 * as in htsim's uec.cpp): receivers grant their senders credit round robin, at the rate of their
 * port. A sender starts with a window of its own.
 *
 * If the network has less capacity than the port, packets arrive trimmed. The first time, the port
 * reduces its credit to the rate at which whole packets arrive; a port that is itself the
 * bottleneck receives at its own rate and so keeps it. Afterwards each round trip multiplies the
 * rate by 1 - a/2, where a is the smoothed fraction of packets that arrive trimmed (the law of
 * DCTCP for marks, Alizadeh et al., SIGCOMM 2010, equations 1 and 2). Round trip n without trimmed
 * packets in succession adds max(1, n - 5) times the increase. Packets that arrive within a round
 * trip of a cut were granted before it and do not count. Marks do not slow a port, since trimming
 * bounds the queues.
 */
class Rccc : public CongestionControl
{
  public:
    Rccc()
        : CongestionControl(
              "rccc",
              "Receivers grant credit at the rate of their port (Ultra Ethernet, receiver-based).")
    {
    }

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

    std::unique_ptr<ReceiverControl> OpenReceiver(double rate) const override;

    uint32_t credit{4};
    double startWindow{1.5};
    double gain{1.0 / 16};
    double increase{1.0 / 64};
    double minimum{1.0 / 64};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_RCCC_H
