// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H
#define WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * DCQCN (Zhu et al., SIGCOMM 2015): switches mark packets and receivers notify senders. Senders cut
 * their rate in proportion to the frequency of notifications and then recover towards their earlier
 * rate.
 *
 * Two variants: as in the paper, every notification cuts; as in network adapters, the sender checks
 * every `cutCheck` whether a notification has arrived. Presets name published settings.
 */
class Dcqcn : public CongestionControl
{
  public:
    Dcqcn()
        : CongestionControl(
              "dcqcn",
              "Marks cut rates, timers and byte counters increase them (Zhu et al., SIGCOMM 2015).")
    {
        ApplyPreset();
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;
    Time NotificationInterval() const override;
    Time Period() const override;

    std::size_t preset{1}; //!< index into PRESETS
    // Of the preset:
    Time notificationInterval; //!< infinite: ACKs echo marks
    Time alphaTimer;
    Time cutCheck; //!< zero: each notification cuts
    Time increaseTimer;
    Bytes byteCounter; //!< zero: none
    uint32_t fastRecovery{0};
    Rate additiveIncrease;
    Rate hyperIncrease;
    Rate increaseRate; //!< line rate for which the increases are given; zero: any
    double alphaGain{0};
    Rate minimumRate;

    bool clampTarget{false};
    Bytes window{Bytes(0)};   //!< window at line rate; zero: none
    bool windowOfPath{false}; //!< whether the window is the bandwidth-delay product of the path

  private:
    void ApplyPreset();
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H
