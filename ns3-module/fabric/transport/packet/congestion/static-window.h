// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_STATIC_WINDOW_H
#define WEIR_FABRIC_TRANSPORT_PACKET_STATIC_WINDOW_H

#include "fabric/transport/packet/congestion/congestion-control.h"

namespace weir
{

/** A constant window, at line rate. */
class StaticWindow : public CongestionControl
{
  public:
    StaticWindow()
        : CongestionControl("window", "A fixed window of bytes in flight.")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;

    Bytes window{Bytes(0)}; //!< zero: ofPath times the bandwidth-delay product of the path
    double ofPath{1};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_STATIC_WINDOW_H
