// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_SETTLING_PACKETS_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_SETTLING_PACKETS_H

#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/service-windows.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <deque>
#include <queue>
#include <tuple>
#include <vector>

namespace weir
{

/** Latency of a route, including the store-and-forward delay of a packet at each hop. */
inline Time
PacketLatency(const Routing& routing, RouteId route, Bytes mtu)
{
    const auto hops = static_cast<int64_t>(routing.Links(route).size());
    return routing.Latency(route) + mtu * hops / routing.BottleneckRate(route);
}

/** Counters of settled periods. */
struct SettledCounters
{
    uint64_t periods{0}; //!< periods without packets
    uint64_t flows{0};   //!< flows served in them
    int64_t time{0};     //!< total time of them, ps

    SettledCounters& operator+=(const SettledCounters& other)
    {
        periods += other.periods;
        flows += other.flows;
        time += other.time;
        return *this;
    }
};

/**
 * Packets that are replaced by a fluid once they have settled on average, until something changes.
 *
 * While packets move, the services of each connection are recorded (ServiceWindows). Once three
 * consecutive windows agree within the tolerance, even if rates, windows and queues oscillate
 * within them, packets are parked and flows are served instead: each takes the time that an earlier
 * flow of its connection took, cyclically through the recorded services.
 *
 * Packets move again, with the rates, windows and queues at which they were parked and the flows
 * that are active by then, when
 * - a flow starts on a connection that was not seen, or is larger than those that were;
 * - a connection is idle for longer than twice its longest pause in the windows plus the tolerance
 *   times their duration;
 * - a link changes, or a flow is canceled;
 * - twice the averaged time has passed; if the averages agree again then, packets are parked for
 *   twice as long as before.
 */
class SettlingPackets final : private FlowClient, private TransportObserver
{
  public:
    /**
     * @param client receives the callbacks of flows
     * @param observer receives stalls and resumptions
     *
     * All arguments must outlive this object.
     * @throws std::invalid_argument as PacketTransport.
     */
    SettlingPackets(Routing& routing,
                    const PacketSpec& spec,
                    FlowClient& client,
                    TransportObserver& observer);
    SettlingPackets(const SettlingPackets&) = delete;
    SettlingPackets& operator=(const SettlingPackets&) = delete;

    /**
     * Starts a flow.
     * @param request its token must be the number of flows started before
     * @param links links that its packets or acknowledgments may take
     */
    void Start(const FlowRequest& request, const std::vector<uint32_t>& links, Time now);

    /** Ends a flow early, without further callbacks. */
    void Cancel(uint64_t token, Time now);

    Time NextEventTime();
    void AdvanceTo(Time now);
    Time AdvanceExclusively(Time limit);
    void SetLinkRate(LinkId link, Rate rate, Time now);
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now);

    /** As PacketTransport. */
    bool IsAtRest() const
    {
        return m_active == 0 && (m_isServed || m_packets.IsAtRest());
    }

    /** As QueuePairs::AppendLevels; false while packets are parked. */
    bool AppendLevels(std::vector<double>& levels) const
    {
        return !m_isServed && m_packets.GetQueuePairs().AppendLevels(levels);
    }

    const FlowCounters& CountersOf(uint64_t token) const
    {
        return m_flows[token].counters;
    }

    /** Zero for a flow that is served. */
    Rate RateOf(uint64_t token);

    /** Path of a flow; invalid for a flow that is served. */
    FlowPath PathOf(uint64_t token);
    PortCounters CountersAt(uint32_t link, Time now);

    /** Stalled flows, with the tokens of their requests. */
    std::vector<StalledFlow> StalledFlows();

    PacketTransport& GetPackets()
    {
        return m_packets;
    }

    const SettledCounters& GetCounters() const
    {
        return m_counters;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    enum class State : uint8_t
    {
        Packets,
        Served,
        Done
    };

    struct Flow
    {
        FlowRequest request;
        uint32_t connection{0};
        FlowId id;             //!< id of its packets, if any
        uint32_t inner{NONE};  //!< number among all flows that have had packets
        int64_t start{0};      //!< ps
        int64_t begin{0};      //!< start of its service, ps
        int64_t end{0};        //!< end of its service, ps
        int64_t sentAt{0};     //!< ps
        double left{0};        //!< bytes left at the start of its service
        FlowCounters counters; //!< counters assumed while served
        State state{State::Packets};
        bool isSent{false}; //!< its client was told that it is sent
    };

    enum class ServiceEventKind : uint8_t
    {
        Sent,
        Done,
        Idle,   //!< its connection has been idle for too long
        Horizon //!< the averaged windows are valid no longer
    };

    struct ServiceEvent
    {
        int64_t time{0}; //!< ps
        uint64_t number{0};
        ServiceEventKind kind{ServiceEventKind::Horizon};
        uint32_t flow{0}; //!< flow or connection

        friend bool operator>(const ServiceEvent& a, const ServiceEvent& b)
        {
            return std::tie(a.time, a.number) > std::tie(b.time, b.number);
        }
    };

    /** Parked packets of a flow. */
    struct Parked
    {
        FlowId id;
        uint32_t inner;
    };

    void OnFlowDone(uint64_t token, Time now) override;
    void OnFlowSent(uint64_t token, Time now) override;
    void OnFlowStarted(FlowId id, const FlowRequest& request, Time now) override;
    void OnFlowStalled(FlowId id, const FlowRequest& request, bool isStalled, Time now) override;

    /** Converts to the time of packets, which excludes settled periods. */
    Time Inner(int64_t now) const
    {
        return Time::Picoseconds(now - m_skipped);
    }

    /** Converts from the time of packets. */
    Time Outer(Time inner) const
    {
        return inner + Time::Picoseconds(m_skipped);
    }

    void Post(uint32_t flow, Bytes bytes, int64_t now);
    void Mark();
    void Settle();
    void Serve(uint32_t flow, int64_t now);
    void ServeRest(uint32_t flow, int64_t now);
    void Push(int64_t time, ServiceEventKind kind, uint32_t subject);
    void Do(const ServiceEvent& event);
    void TellDone(uint32_t flow, int64_t now);
    void Interrupt(int64_t now);
    void RestartWindows(int64_t now);
    void Resume(int64_t now);
    int64_t MaxIdle(const ServiceWindows::Connection& connection) const;
    double LeftOf(const Flow& flow, int64_t now) const;

    /** PacketLatency of a flow's route, ps. */
    int64_t LatencyOf(const FlowRequest& request) const
    {
        return PacketLatency(m_routing, request.route, m_mtu).ToPicoseconds();
    }

    PortCounters ServedCounters(std::size_t link, int64_t time) const;

    Routing& m_routing;
    double m_tolerance;
    Time m_period; //!< period of the congestion control
    Bytes m_mtu;
    FlowClient& m_client;
    TransportObserver& m_observer;
    PacketTransport m_packets;
    ServiceWindows m_windows;
    std::deque<Flow> m_flows;                 //!< by token
    std::vector<uint32_t> m_outer;            //!< by number among the flows that have had packets:
                                              //!< index into m_flows
    std::vector<std::deque<uint32_t>> m_open; //!< by connection: active flows in the order of their
                                              //!< starts
    std::vector<std::deque<Parked>> m_parked; //!< by connection: flows when packets were parked
    std::vector<uint32_t> m_links;            //!< links loaded by flows
    std::vector<uint32_t> m_indexOfLink;      //!< by link: index into m_links; NONE if absent
    std::vector<PortCounters> m_done;         //!< by index in m_links: counters of settled periods
    std::vector<PortCounters> m_perWindow;    //!< by index in m_links: counters of the averaged
                                              //!< time
    std::priority_queue<ServiceEvent, std::vector<ServiceEvent>, std::greater<>> m_events;
    std::size_t m_active{0};
    int64_t m_now{0};      //!< ps
    int64_t m_skipped{0};  //!< total time of settled periods, ps
    int64_t m_parkedAt{0}; //!< ps: when packets were parked
    int64_t m_averaged{0}; //!< averaged time, ps
    int64_t m_patience{0}; //!< consecutive settled periods that ended at their horizon
    uint64_t m_pushed{0};
    bool m_isServed{false};
    bool m_hasTold{false};
    SettledCounters m_counters;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_SETTLING_PACKETS_H
