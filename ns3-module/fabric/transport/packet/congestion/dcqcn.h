// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H
#define WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * DCQCN (Zhu et al., SIGCOMM 2015): switches mark, receivers notify, senders cut their rate in
 * proportion to how often they are notified and grow back towards what they had.
 *
 * Either as the paper has it, where every notification cuts; or as network adapters do, which look
 * every `cutCheck` whether one came. Presets name published settings.
 */
class Dcqcn : public CongestionControl
{
  public:
    Dcqcn()
        : CongestionControl("dcqcn",
                            "Rates cut by marks and grown by timers (Zhu et al., SIGCOMM 2015).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;
    Time NotificationInterval() const override;
    Time Period() const override;

    std::size_t preset{1};                            //!< of PRESETS
    Time notificationInterval{Time::Microseconds(4)}; //!< infinite: ACKs echo marks
    Time alphaTimer{Time::Microseconds(1)};
    Time cutCheck{Time::Microseconds(4)}; //!< zero: each notification cuts
    Time increaseTimer{Time::Microseconds(300)};
    Bytes byteCounter{Bytes(0)}; //!< zero: none
    uint32_t fastRecovery{1};
    Rate additiveIncrease{Rate::Gbps(0.005)};
    Rate hyperIncrease{Rate::Gbps(0.05)};
    Rate increaseRate{Rate()}; //!< line rate that increases are for; zero: they are for all
    double alphaGain{1.0 / 205};
    Rate minimumRate{Rate::Gbps(0.001)};
    bool clampTarget{false};
    Bytes window{Bytes(0)};   //!< at line rate; zero: none
    bool windowOfPath{false}; //!< the window is the path's rate times its round trip

  private:
    void ApplyPreset();
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DCQCN_H
