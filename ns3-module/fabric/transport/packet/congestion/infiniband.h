// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H
#define WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H

#include "fabric/transport/packet/congestion/congestion-control.h"

#include <algorithm>
#include <memory>

namespace weir
{

/**
 * InfiniBand's congestion control (IBA volume 1, annex A10). Switches set FECN on packets that
 * leave a port at the root of congestion, and receivers return it as BECN in their acknowledgments.
 * Each BECN moves the sender forward in the congestion control table, a table of inter-packet
 * delays. A timer moves it back by one entry. At entry i, a packet of transmission time T is
 * followed by a delay of i * tableStep * T, so that the rate is the line rate divided by 1 + i *
 * tableStep.
 *
 * Use it with `markRoots` of `switch`, and set both markFrom and markAll to the threshold.
 */
class Infiniband : public CongestionControl
{
  public:
    Infiniband()
        : CongestionControl(
              "infiniband",
              "Marks advance an index into a table of inter-packet delays, a timer decreases it "
              "(InfiniBand Architecture, annex A10).")
    {
    }

    void VisitParameters(ParameterVisitor& visitor) override;
    std::unique_ptr<SenderControl> Open(const ConnectionFacts& facts) const override;
    Time Period() const override;

    uint32_t increase{1};
    uint32_t limit{127};
    Time timer{Time::Nanoseconds(153600)};
    double tableStep{0.125};

  private:
    class Sender;
};

class Infiniband::Sender : public SenderControl
{
  public:
    Sender(const Infiniband& values, const ConnectionFacts& facts)
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

inline void
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
                      "Time after which the index decreases by one entry (CCTI_Timer).",
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

inline Time
Infiniband::Period() const
{
    return timer;
}

inline std::unique_ptr<SenderControl>
Infiniband::Open(const ConnectionFacts& facts) const
{
    return std::make_unique<Sender>(*this, facts);
}

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_INFINIBAND_H
