// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * NSCC, the sender-based congestion control of Ultra Ethernet (UEC specification 1.0; constants as
 * in htsim's uec.cpp): a window that marks and queueing delay move together. Each lost byte is
 * taken off it, but for those that were under way when it became what had got through in a round
 * (quick adapt; SMaRTT-REPS, Bonato et al., 2024), whose marks do not count either. In the mean of
 * delays by which marks cut it, a packet that waited longer than aimed at, but was not marked,
 * counts as a quarter of a round trip: the queue behind it is short.
 *
 * The delay that it aims at and its increases are scaled for the network, not for each path: by the
 * round trip of its longest path, and by a rate. Published runs of htsim at 200, 400 and 800 Gb/s
 * trim as many packets as increases for 100 Gb/s make them; those for the line's rate would trim up
 * to seven times as many.
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
    Time networkRtt; //!< zero: the path's
    Rate increaseRate{Rate::Gbps(100)};
    double gain{0.0125};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_NSCC_H
