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
    visitor.Size({"window", "Most bytes under way; 0: as ofPath says."},
                 window,
                 {Bytes(0), Bytes::GiB(1024)});
    visitor.Number({"ofPath", "Times the path's rate times its round trip."}, ofPath, {1e-6, 1e6});
}

std::unique_ptr<SenderControl>
StaticWindow::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<StaticWindowSender>(
        facts.lineRate, window > Bytes(0) ? window.ToDouble() : ofPath * facts.BandwidthDelay());
}

} // namespace weir
