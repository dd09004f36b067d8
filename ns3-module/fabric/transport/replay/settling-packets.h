// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_REPLAY_SETTLING_PACKETS_H
#define WEIR_FABRIC_TRANSPORT_REPLAY_SETTLING_PACKETS_H

#include "fabric/transport/packet/packet-transport.h"
#include "fabric/transport/replay/service-windows.h"
#include "fabric/transport/transport-observers.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

namespace weir
{

/** What settled periods have saved. */
struct SettledCounters
{
    uint64_t periods{0}; //!< in which no packet moved
    uint64_t flows{0};   //!< that were served in them
    int64_t time{0};     //!< ps, of all of them

    SettledCounters& operator+=(const SettledCounters& other)
    {
        periods += other.periods;
        flows += other.flows;
        time += other.time;
        return *this;
    }
};

/**
 * Packets that become a fluid where they have settled on average, until something changes.
 *
 * While packets move, the services of each connection are noted (ServiceWindows). Once three
 * windows back to back agree within the tolerance, though rates, windows and queues swing within
 * them, packets are parked, and flows are served: each takes what a flow of its connection took
 * before it, one after another and from the start again.
 *
 * Packets move again, with the rates, windows and queues where they were parked and the flows that
 * are under way then, when
 *  - a flow starts on a connection that was not seen, or is larger than those that were;
 *  - a connection is idle for longer than twice its longest pause in the windows, and the tolerance
 *    of their time;
 *  - a link changes, or a flow is cancelled;
 *  - twice the time has passed that was averaged over; where as much again agrees then, they are
 *    parked for twice as long as before.
 */
class SettlingPackets final : private FlowClient, private TransportObserver
{
  public:
    /**
     * @param client is told of flows
     * @param observer is told of those that stall, and resume
     * All must outlive it. @throws std::invalid_argument as PacketTransport.
     */
    SettlingPackets(Routing& routing,
                    const PacketSpec& spec,
                    FlowClient& client,
                    TransportObserver& observer);
    SettlingPackets(const SettlingPackets&) = delete;
    SettlingPackets& operator=(const SettlingPackets&) = delete;

    /**
     * @param request whose token is the number of flows that were started before
     * @param links that its packets, or their acknowledgments, may take
     */
    void Start(const FlowRequest& request, const std::vector<uint32_t>& links, Time now);

    /** Nothing more is told of a flow. */
    void Cancel(uint64_t token, Time now);

    Time NextEventTime();
    void AdvanceTo(Time now);
    Time AdvanceAlone(Time limit);
    void SetLinkRate(LinkId link, Rate rate, Time now);
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now);

    /** As PacketTransport. */
    bool IsAtRest() const;

    /** As QueuePairs::AppendLevels; false where nothing moves as packets. */
    bool AppendLevels(std::vector<double>& levels) const;

    FlowCounters CountersOf(uint64_t token);

    /** Nothing of a flow that is served. */
    Rate RateOf(uint64_t token);

    /** Whether a flow moves as packets now. */
    bool IsPackets(uint64_t token) const
    {
        return m_flows[token].state == State::Packets;
    }

    /** Of a flow that moves as packets. */
    FlowPath PathOf(uint64_t token);
    Rate LinkRate(LinkId link);
    PortCounters CountersAt(uint32_t link, Time now);
    int64_t QueuedBytes(uint32_t link);

    /** With the tokens of their requests. */
    std::vector<StalledFlow> StalledFlows();
    std::string DescribeWaiting() const;

    uint64_t Events() const
    {
        return m_packets.Events();
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
        FlowId id;             //!< of its packets, if there are any
        uint32_t inner{NONE};  //!< its number among all that have had packets
        int64_t start{0};      //!< ps
        int64_t begin{0};      //!< ps: when its service begins, or began
        int64_t end{0};        //!< ps: when it is done, as it is served
        int64_t sentAt{0};     //!< ps
        double left{0};        //!< bytes when its service began
        FlowCounters counters; //!< as it is served
        State state{State::Packets};
        bool isSent{false}; //!< its client was told so
    };

    enum class ServiceEventKind : uint8_t
    {
        Sent,
        Done,
        Idle,   //!< its connection has been, for longer than it may
        Horizon //!< nothing is known of what comes
    };

    struct ServiceEvent
    {
        int64_t time{0}; //!< ps
        uint64_t number{0};
        ServiceEventKind kind{ServiceEventKind::Horizon};
        uint32_t flow{0}; //!< or connection

        friend bool operator>(const ServiceEvent& a, const ServiceEvent& b)
        {
            return std::tie(a.time, a.number) > std::tie(b.time, b.number);
        }
    };

    /** Packets of a flow that are parked. */
    struct Parked
    {
        FlowId id;
        uint32_t inner;
    };

    void OnFlowDone(uint64_t token, Time now) override;
    void OnFlowSent(uint64_t token, Time now) override;
    void OnFlowStarted(FlowId id, const FlowRequest& request, Time now) override;
    void OnFlowStalled(FlowId id, const FlowRequest& request, Time now) override;
    void OnFlowResumed(FlowId id, const FlowRequest& request, Time now) override;

    /** The time of packets. */
    Time Inner(int64_t now) const
    {
        return Time::Picoseconds(now - m_skipped);
    }

    /** What the time of packets is to others. */
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
    int64_t LatencyOf(const FlowRequest& request) const;
    PortCounters ServedCounters(std::size_t link, int64_t time) const;

    Routing& m_routing;
    double m_tolerance;
    Time m_period; //!< of the congestion control
    Bytes m_mtu;
    FlowClient& m_client;
    TransportObserver& m_observer;
    PacketTransport m_packets;
    ServiceWindows m_windows;
    std::deque<Flow> m_flows;                 //!< by token
    std::vector<uint32_t> m_outer;            //!< by number among those that have had packets
    std::vector<std::deque<uint32_t>> m_open; //!< flows by connection, the first one first
    std::vector<std::deque<Parked>> m_parked; //!< similarly, of those when packets were parked
    std::vector<uint32_t> m_links;            //!< that flows have loaded
    std::vector<uint32_t> m_placeOfLink;      //!< into m_links; NONE: it is not there
    std::vector<PortCounters> m_done;         //!< by place in m_links: in settled periods
    std::vector<PortCounters> m_perWindow;    //!< similarly, in the time that was averaged over
    std::priority_queue<ServiceEvent, std::vector<ServiceEvent>, std::greater<>> m_events;
    std::size_t m_active{0};
    int64_t m_now{0};      //!< ps
    int64_t m_skipped{0};  //!< ps of settled periods
    int64_t m_parkedAt{0}; //!< ps: when packets were parked
    int64_t m_averaged{0}; //!< ps that were averaged over
    int64_t m_patience{0}; //!< periods back to back that ended after their time
    uint64_t m_pushed{0};
    bool m_isServed{false};
    bool m_hasTold{false};
    SettledCounters m_counters;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_REPLAY_SETTLING_PACKETS_H
