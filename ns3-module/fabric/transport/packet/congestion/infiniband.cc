// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/infiniband.h"

#include <algorithm>

namespace weir
{

namespace
{

class InfinibandSender : public SenderControl
{
  public:
    InfinibandSender(const Infiniband& values, const ConnectionFacts& facts)
        : m_values(values),
          m_lineRate(facts.lineRate)
    {
        SetIndex(0);
    }

    void OnAck(const Acknowledgment& ack) override
    {
        if (!ack.isMarked)
        {
            return;
        }
        if (m_index == 0)
        {
            m_next = ack.now + m_values.timer;
        }
        SetIndex(std::min(m_index + m_values.increase, m_values.limit));
    }

    Time NextTimer() const override
    {
        return m_index == 0 ? Time::Infinite() : m_next;
    }

    void OnTimer(Time now) override
    {
        m_next = now + m_values.timer;
        SetIndex(m_index - 1);
    }

  private:
    void SetIndex(uint32_t index)
    {
        m_index = index;
        m_rate = m_lineRate / (1 + index * m_values.tableStep);
    }

    const Infiniband& m_values;
    double m_lineRate;
    uint32_t m_index{0};
    Time m_next;
};

} // namespace

void
Infiniband::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Count({"increase",
                   "Number of congestion control table entries by which a mark advances the index "
                   "(CCTI_Increase).",
                   "OpenSM's manual"},
                  increase,
                  {1, 127});
    visitor.Count({"limit",
                   "Last entry of the congestion control table (CCTI_Limit).",
                   "a table of 128 entries; not verified"},
                  limit,
                  {1, 16383});
    visitor.Duration({"timer",
                      "Time after which the index goes back by one entry (CCTI_Timer).",
                      "150 units of 1.024 us; not verified"},
                     timer,
                     {Time::Nanoseconds(1), Time::Seconds(1)});
    visitor.Number({"tableStep",
                    "Inter-packet delay that each table entry adds, as a multiple of the packet's "
                    "transmission time; operators fill the table.",
                    "no published value"},
                   tableStep,
                   {1e-6, 1e3});
}

Time
Infiniband::Period() const
{
    return timer;
}

std::unique_ptr<SenderControl>
Infiniband::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<InfinibandSender>(*this, facts);
}

} // namespace weir
