// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_HPCC_H
#define WEIR_FABRIC_TRANSPORT_PACKET_HPCC_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * HPCC (Li et al., SIGCOMM 2019): acknowledgments carry the bytes sent and queued at each hop. Rate
 * and window follow the most utilized hop.
 */
class Hpcc : public CongestionControl
{
  public:
    Hpcc()
        : CongestionControl("hpcc",
                            "Rates follow the telemetry that switches write into packets (Li et "
                            "al., SIGCOMM 2019).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    bool WantsTelemetry() const override
    {
        return true;
    }

    double TargetUtilization() const override
    {
        return utilization;
    }

    uint32_t HeaderBytes() const override
    {
        return telemetryHeader;
    }

    double utilization{0.95};
    uint32_t maxStage{0};
    bool fastReaction{true};
    Rate increase{Rate::Gbps(0.05)};
    Rate minimumRate{Rate::Gbps(0.1)};
    Time baseRtt; //!< zero: that of the path
    Bytes window{Bytes(0)};
    bool windowOfPath{true};
    bool scaleWindow{true};
    uint32_t telemetryHeader{42}; //!< bytes
    uint32_t byteUnit{128};
    uint32_t queueUnit{80};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_HPCC_H
