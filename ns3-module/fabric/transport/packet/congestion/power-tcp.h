// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_POWER_TCP_H
#define WEIR_FABRIC_TRANSPORT_PACKET_POWER_TCP_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * PowerTCP (Addanki et al., NSDI 2022): the window follows the power of the most loaded hop,
 * relative to the power at full utilization without queueing. Power is current (arrival rate) times
 * voltage (queued bytes plus bandwidth-delay product).
 */
class PowerTcp : public CongestionControl
{
  public:
    PowerTcp()
        : CongestionControl(
              "powertcp",
              "Windows follow the power of the most loaded hop (Addanki et al., NSDI 2022).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    bool WantsTelemetry() const override
    {
        return true;
    }

    uint32_t HeaderBytes() const override
    {
        return telemetryHeader;
    }

    double gamma{0.9};
    uint32_t flows{10};
    uint32_t telemetryHeader{42}; //!< bytes
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_POWER_TCP_H
