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
 *
 * Where the network has less room than the port, packets come trimmed. The first time, the port
 * then gives credit at the rate at which whole packets came; a port whose own senders are too many
 * receives at its rate, and so keeps it. After that each round trip multiplies the rate by 1 - a/2,
 * where a is the smoothed part of packets that came trimmed (the law that DCTCP has for marks,
 * Alizadeh et al., SIGCOMM 2010, equations 1 and 2), or adds the increase where none was trimmed:
 * that many times more after the fifth consecutive such round trip. What comes within a round trip
 * of a cut had credit before it and does not count. Marks do not slow a port: trimming bounds
 * queues.
 */
class Rccc : public CongestionControl
{
  public:
    Rccc()
        : CongestionControl(
              "rccc",
              "Receivers give credit at the rate of their port (Ultra Ethernet, receiver-based).")
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
