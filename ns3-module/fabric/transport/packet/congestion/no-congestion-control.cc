// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/no-congestion-control.h"

namespace weir
{

namespace
{

class Unlimited : public SenderControl
{
  public:
    explicit Unlimited(const ConnectionFacts& facts)
    {
        m_rate = facts.lineRate;
    }
};

} // namespace

std::unique_ptr<SenderControl>
NoCongestionControl::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Unlimited>(facts);
}

} // namespace weir
