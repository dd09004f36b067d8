// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_DCTCP_H
#define WEIR_FABRIC_TRANSPORT_PACKET_DCTCP_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/**
 * Rate-based DCTCP (Alizadeh et al., SIGCOMM 2010), as in HPCC's simulator: once a round trip, the
 * rate is cut in proportion to the fraction of marked packets, or grows by a step.
 */
class Dctcp : public CongestionControl
{
  public:
    Dctcp()
        : CongestionControl(
              "dctcp",
              "Rates are cut by the fraction of marked packets (Alizadeh et al., SIGCOMM 2010).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    double gain{1.0 / 16};
    Rate increase{Rate::Gbps(1)};
    Rate minimumRate{Rate::Gbps(0.1)};
    Bytes window{Bytes(0)};
    bool windowOfPath{true};
    bool scaleWindow{true};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DCTCP_H
