// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/rccc.h"

namespace weir
{

namespace
{

/** At line rate, as long as there is credit. */
class RcccSender : public SenderControl
{
  public:
    explicit RcccSender(const ConnectionFacts& facts)
    {
        m_rate = facts.lineRate;
    }
};

} // namespace

const char*
Rccc::Name() const
{
    return "rccc";
}

const char*
Rccc::Description() const
{
    return "Receivers give credit at the rate of their port (Ultra Ethernet, receiver-based).";
}

void
Rccc::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count({"credit", "Full packets that a receiver grants at a time.", "htsim: 4"},
                  credit,
                  {1, 1 << 16});
    visitor.Number({"startWindow",
                    "What a sender sends without credit, of the path's rate times its round trip.",
                    "htsim: 1.5"},
                   startWindow,
                   {1e-3, 1e3});
}

std::unique_ptr<SenderControl>
Rccc::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<RcccSender>(facts);
}

} // namespace weir
