// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_NO_CONGESTION_CONTROL_H
#define WEIR_FABRIC_TRANSPORT_PACKET_NO_CONGESTION_CONTROL_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <memory>

namespace weir
{

/** No congestion control: sends at line rate, limited only by flow control. */
class NoCongestionControl : public CongestionControl
{
  public:
    NoCongestionControl()
        : CongestionControl("none",
                            "No congestion control: senders use the full rate of their ports.")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override
    {
    }

    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override
    {
        return std::make_unique<SenderControl>(facts.lineRate);
    }
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_NO_CONGESTION_CONTROL_H
