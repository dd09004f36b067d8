// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_STATIC_WINDOW_H
#define WEIR_FABRIC_TRANSPORT_PACKET_STATIC_WINDOW_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <memory>

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

    void VisitParameters(ParameterVisitor& visitor) override
    {
        visitor.Size({"window", "Maximum bytes in flight; 0: given by ofPath."},
                     window,
                     {Bytes(0), Bytes::GiB(1024)});
        visitor.Number(
            {"ofPath",
             "Window as a multiple of the path's bandwidth-delay product, where window is 0."},
            ofPath,
            {1e-6, 1e6});
    }

    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override
    {
        return std::make_unique<SenderControl>(facts.lineRate,
                                               window > Bytes(0) ? window.ToDouble()
                                                                 : ofPath * facts.BandwidthDelay());
    }

    Bytes window{Bytes(0)}; //!< zero: ofPath times the bandwidth-delay product of the path
    double ofPath{1};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_STATIC_WINDOW_H
