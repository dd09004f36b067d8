// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * NSCC, the sender-based congestion control of Ultra Ethernet (UEC specification 1.0; constants as
 * in htsim's uec.cpp): marks and queueing delay adjust the window.
 *
 * Each lost byte is subtracted from the window. Quick adapt (SMaRTT-REPS, Bonato et al., 2024) sets
 * the window to the bytes acknowledged in a round; losses and marks of bytes that were in flight at
 * that time are ignored. Cuts use a mean delay. In this mean, an unmarked packet with a delay above
 * the target counts as a quarter of the base round trip, since the queue behind it is short.
 *
 * The target delay and the increases are scaled for the network, not for each path: by the round
 * trip of its longest path, and by a rate. Increases for 100 Gb/s reproduce the trimmed packets of
 * published htsim runs at 200, 400 and 800 Gb/s; increases for the line rate would trim up to seven
 * times as many.
 */
class Nscc : public CongestionControl
{
  public:
    Nscc()
        : CongestionControl(
              "nscc", "Windows follow marks and queueing delay (Ultra Ethernet, sender-based).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    bool SendsWithinWindow() const override
    {
        return true;
    }

    double target{0.75};
    double startWindow{1.5};
    double maxWindow{1.5};
    Time networkRtt; //!< zero: that of the path
    Rate increaseRate{Rate::Gbps(100)};
    double gain{0.0125};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
