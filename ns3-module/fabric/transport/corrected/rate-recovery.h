// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_RATE_RECOVERY_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_RATE_RECOVERY_H

#include "fabric/parameters/parameter-visitor.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/units.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * What a congestion control that is slow to grow (DCQCN) makes of a flow's rate. Flows begin at the
 * rate of their sender's port. Where those on a port come to more than its rate, its queue grows;
 * when it marks packets, flows that have more to send are cut, and get half of what they lack of
 * their port's rate in each period after that queue has drained.
 */
struct RateRecovery : Parameterized
{
    Time period; //!< zero: off
    Bytes markFrom{Bytes::KiB(100)};
    double floor{0.05};

    bool IsOn() const
    {
        return period > Time();
    }

    void VisitParameters(ParameterVisitor& visitor) override;
};

/** Caps of flows by RateRecovery. */
class RecoveringRates
{
  public:
    /** @param fluid whose caps it sets; both must outlive it */
    RecoveringRates(const RateRecovery& values, FluidTransport& fluid, std::size_t links);

    /**
     * A flow is to begin.
     * @param begin when its first byte is at the ports of switches
     * @param line rate of its sender's port, bytes/s
     * @param links ports of switches that it shares
     */
    void Add(FlowId id, Bytes bytes, Time begin, double line, const std::vector<LinkId>& links);

    /** Traffic that others control, in the same ports from @p begin on, bytes/s at most. */
    void AddOther(FlowId id, Time begin, double rate, const std::vector<LinkId>& links);

    /** It sends at another rate, bytes/s at most. */
    void SetOther(FlowId id, double rate, Time now);

    /** It is done, or cancelled. */
    void Remove(FlowId id);

    /** A port has another rate, bytes/s. */
    void SetPortRate(LinkId link, double rate)
    {
        m_rates[link.Index()] = rate;
    }

    Time NextEventTime() const
    {
        return m_events.empty() ? Time::Infinite() : m_events.begin()->first.time;
    }

    void AdvanceTo(Time now);

  private:
    enum class EventKind : uint8_t
    {
        Begin,   //!< of a flow
        Cut,     //!< at a port
        Drained, //!< the queue in front of what a flow is cut of
        Recovery //!< of a flow
    };

    struct Event
    {
        Time time;
        uint64_t sequence; //!< of two at one time, the earlier

        friend bool operator<(const Event& a, const Event& b)
        {
            return a.time != b.time ? a.time < b.time : a.sequence < b.sequence;
        }
    };

    struct Action
    {
        EventKind kind;
        uint64_t of; //!< a flow's id or a link's index
    };

    struct Flow
    {
        double bytes;
        double line; //!< bytes/s
        double cap;  //!< at which it sends, bytes/s
        Time begin;
        Time lastCut;
        bool wasCut{false};
        bool isOther{false}; //!< others control it
        std::vector<LinkId> ports{};
    };

    void Schedule(Time time, EventKind kind, uint64_t of);
    double OfferedAt(uint32_t link, Time now) const;
    void Watch(const Flow& flow, Time now);
    void CutAt(uint32_t link, Time now);
    void Recover(uint64_t id, Time now);
    void ApplyCap(uint64_t id, Time now);

    const RateRecovery& m_values;
    FluidTransport& m_fluid;
    std::vector<double> m_rates;                  //!< by link
    std::vector<std::vector<uint64_t>> m_flowsAt; //!< by link
    std::vector<bool> m_isWatched;                //!< by link: a cut is to come
    std::unordered_map<uint64_t, Flow> m_flows;
    std::map<Event, Action> m_events;
    uint64_t m_sequence{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_RATE_RECOVERY_H
