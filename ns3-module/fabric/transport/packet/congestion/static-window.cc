// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/static-window.h"

namespace weir
{

namespace
{

class StaticWindowSender : public SenderControl
{
  public:
    StaticWindowSender(double rate, double window)
    {
        m_rate = rate;
        m_window = window;
    }
};

} // namespace

void
StaticWindow::VisitParameters(ParameterVisitor& visitor)
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

std::unique_ptr<SenderControl>
StaticWindow::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<StaticWindowSender>(
        facts.lineRate, window > Bytes(0) ? window.ToDouble() : ofPath * facts.BandwidthDelay());
}

} // namespace weir
