// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_CORRECTED_RATE_RECOVERY_H
#define WEIR_FABRIC_TRANSPORT_CORRECTED_RATE_RECOVERY_H

#include "fabric/transport/corrected/correction-spec.h"
#include "fabric/transport/fluid/fluid-transport.h"
#include "fabric/units.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

/** Computes the caps of flows by RateRecovery. */
class RecoveringRates
{
  public:
    /**
     * @param fluid the transport whose flows are capped; it and @p values must outlive this object
     */
    RecoveringRates(const RateRecovery& values, FluidTransport& fluid, std::size_t links);

    /**
     * Adds a flow.
     * @param begin when its first byte reaches the switch ports
     * @param line rate of its sender's port, bytes/s
     * @param links switch ports that it shares with other flows
     */
    void Add(FlowId id, Bytes bytes, Time begin, double line, const std::vector<LinkId>& links);

    /**
     * Adds traffic with a rate controlled elsewhere.
     * @param begin when it reaches the ports
     * @param rate highest rate, bytes/s
     * @param links switch ports that it crosses
     */
    void AddOther(FlowId id, Time begin, double rate, const std::vector<LinkId>& links);

    /** Sets the rate of traffic that AddOther added, bytes/s, at most its highest rate. */
    void SetOther(FlowId id, double rate, Time now);

    /** Removes a flow that has ended or was canceled. */
    void Remove(FlowId id);

    /** Sets the rate of a port, bytes/s. */
    void SetPortRate(LinkId link, double rate)
    {
        m_rates[link.Index()] = rate;
    }

    Time NextEventTime() const
    {
        return m_events.empty() ? Time::Infinite() : m_events.begin()->first.first;
    }

    void AdvanceTo(Time now);

  private:
    enum class EventKind : uint8_t
    {
        Begin,   //!< a flow starts
        Cut,     //!< a port cuts its flows
        Drained, //!< the queue of the port that cut a flow has drained
        Recovery //!< a flow recovers
    };

    struct Event
    {
        EventKind kind;
        uint64_t of; //!< flow id or link index
    };

    struct Flow
    {
        double bytes;
        double line; //!< bytes/s
        double cap;  //!< current sending rate, bytes/s
        Time begin;
        Time lastCut;
        bool wasCut{false};
        bool isOther{false}; //!< rate is controlled elsewhere
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
    std::vector<bool> m_isWatched;                //!< by link: a cut is scheduled
    std::unordered_map<uint64_t, Flow> m_flows;
    std::map<std::pair<Time, uint64_t>, Event> m_events; //!< by time, then in order of scheduling
    uint64_t m_sequence{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_CORRECTED_RATE_RECOVERY_H
