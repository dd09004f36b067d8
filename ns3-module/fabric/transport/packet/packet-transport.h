// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/packet/datagrams.h"
#include "fabric/transport/packet/event-wheel.h"
#include "fabric/transport/packet/packet-network.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/transport/packet/queue-pairs.h"
#include "fabric/transport/path-selector.h"
#include "fabric/transport/transport-observers.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir
{

/** What @p link has carried, by the counters of its port. */
LinkUsage UsageOf(const PortCounters& counters, const Link& link);

/**
 * Bytes as packets: each route is a queue pair (or several: FlowRequest::connections), flows are
 * messages on it, and packets pass the ports and switches of PacketNetwork.
 *
 * An uncontended flow of B bytes in packets of at most `mtu` takes its overhead, the time of all
 * its packets on the slowest link, the time of the last packet (or the first, whichever is
 * behind) on each other one, and the path's latency.
 *
 * What has no hops in order (a multicast or a reduction in switches) takes all its links at once:
 * its bytes are sent over each of them, and it is done when the last one has them.
 *
 * Where switches choose by load, a queue pair none of whose flows is under way takes the path that
 * a fluid's flow would take (PathSelector); it is a load of weight 1 there while it carries flows.
 *
 * Datagrams of somebody else share its ports with the flows (SetDatagramClient, OfferDatagrams).
 *
 * Weights do not count. What links carry is in bytes of their payload rate: those on the wire times
 * their framing. A packet counts when it is begun. A link is saturated while it sends and another
 * packet waits for it.
 */
class PacketTransport final : public Transport, private MessageClient, private DatagramClient
{
  public:
    /**
     * @param others what else counts flows on the links of @p routing, where switches choose by
     *        load; null: nothing does. Both must outlive it.
     * @throws std::invalid_argument on values that cannot be.
     */
    PacketTransport(Routing& routing, PacketSpec spec, PathSelector* others = nullptr);
    PacketTransport(const PacketTransport&) = delete;
    PacketTransport& operator=(const PacketTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    Time AdvanceAlone(Time limit) override;

    /**
     * @throws std::invalid_argument as Start: a flow that cannot be, or a sum of routes, which only
     *         a fluid carries.
     */
    void Check(const FlowRequest& request) const;

    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    void SetLinkLoss(LinkId link, double part, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;
    bool IsLinkUp(LinkId link) const override;
    bool Cancel(FlowId id, Time now) override;
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;
    Rate CurrentLinkRate(LinkId link) override;
    LinkUsage GetLinkUsage(LinkId link) override;
    const PortCounters* GetPortCounters(LinkId link) override;
    const FlowCounters* GetFlowCounters(FlowId id) override;
    bool AddPortObserver(PortObserver& observer) override;
    void RemovePortObserver(PortObserver& observer) override;

    bool Moves(FlowForm form) const override
    {
        return form == FlowForm::Packets;
    }

    FlowForm FormOf(const FlowRequest& /* request */) override
    {
        return FlowForm::Packets;
    }

    std::size_t ActiveFlows() const override
    {
        return m_active;
    }

    /** Whether there is no flow, no packet, and none to come of those who send datagrams. */
    bool IsAtRest() const
    {
        return m_active == 0 && m_packets.InUse() == 0 && !m_datagrams.AreOffered();
    }

    /** As QueuePairs::AppendLevels. */
    bool AppendLevels(std::vector<double>& levels) const
    {
        return m_pairs.AppendLevels(levels);
    }

    Time UncontendedTime(const FlowRequest& request, PathId path) override;
    std::vector<StalledFlow> StalledFlows() override;

    /**
     * A cycle of ports that wait for each other, or a queue pair that sends the same again and
     * again (after which there is no next event); empty when there is none. O(packets).
     */
    std::string DescribeWaiting() const override;

    void AddObserver(TransportObserver& observer, bool linkRates) override;
    void RemoveObserver(TransportObserver& observer) override;

    const PacketSpec& GetSpec() const
    {
        return m_spec;
    }

    /** What a flow asks of its path. */
    struct Demand
    {
        Rate allowed{Rate::Infinite()}; //!< by congestion control, in payload
        int64_t sent{0};                //!< payload bytes of its queue pairs since the beginning
        Time roundTrip;                 //!< of a full packet and its acknowledgment, alone
        uint32_t mtu{0};                //!< payload of a full packet
    };

    /** Of a flow that has not ended; nothing yet in its overhead. */
    Demand DemandOf(FlowId id) const;

    /** Payload bytes of a flow that its receiver lacks; zero of one that has ended. */
    int64_t BytesLeft(FlowId id) const;

    /**
     * Makes a flow longer or shorter, until its receiver lacks @p left payload bytes, or what has
     * been sent of them.
     * @return false, and nothing is done, where it is in its overhead or all of a part was sent
     */
    bool SetBytesLeft(FlowId id, int64_t left, Time now);

    /** What a route's packets meet where nothing else moves. */
    struct IdlePath
    {
        RouteId route;    //!< invalid: there is none
        Time roundTrip;   //!< of a full packet and its acknowledgment
        uint32_t hops{0}; //!< links there
    };

    /** The one with the longest round trip of those that flows have taken. */
    const IdlePath& LongestIdlePath() const
    {
        return m_longest;
    }

    /** Counts @p route among them. Amortized O(1) where it is counted already. */
    void CountIdlePath(RouteId route);

    /** The request of a flow that has not ended; null when it has. */
    const FlowRequest* RequestOf(FlowId id) const;

    /** Whose datagrams there are: one client, which must outlive it. */
    void SetDatagramClient(DatagramClient& client)
    {
        m_datagramClient = &client;
    }

    Datagrams& GetDatagrams()
    {
        return m_datagrams;
    }

    /** As Datagrams::Offer. @throws std::invalid_argument also without a client. */
    void OfferDatagrams(LinkId link, unsigned trafficClass, Time now);

    /** The ports and switches. */
    PacketNetwork& GetNetwork()
    {
        return m_network;
    }

    /** The queue pairs. */
    const QueuePairs& GetQueuePairs() const
    {
        return m_pairs;
    }

    /** Events done since the beginning. */
    uint64_t Events() const
    {
        return m_events;
    }

    /** Packets sent over links since the beginning. O(links). */
    uint64_t PacketHops() const;

    /** Most packets under way at once. */
    std::size_t MostPackets() const
    {
        return m_packets.Most();
    }

    /**
     * Checks that every packet is in one place. O(packets). @throws std::logic_error when not.
     */
    void CheckConservation() const;

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    enum class State : uint8_t
    {
        Unused,
        Delayed, //!< in its overhead
        Moving
    };

    struct Flow
    {
        FlowRequest request;
        uint64_t id{0};
        Time started;
        uint32_t partsLeft{0}; //!< messages that are not done
        uint32_t partsUnsent{0};
        uint32_t connection{NONE}; //!< of m_connections; NONE: it crosses no link
        FlowPath path;             //!< once it is posted
        uint32_t port{NONE};       //!< by which it enters the network; NONE: it does not
        State state{State::Unused};
        bool isStalled{false};
        FlowCounters counters;
    };

    /** What carries a stream of a route's flows in a class. */
    struct Connection
    {
        RouteId route;
        uint32_t stream{0};
        uint8_t trafficClass{1};
        std::vector<uint32_t> pairs; //!< one a part; of a footprint one a link
        FlowPath sprayed;            //!< where packets are
        PathId path;                 //!< that they take, or the last one to choose
        bool isFootprint{false};
        bool isStalled{false};
    };

    /** What a queue pair takes where switches choose by load. */
    struct Choice
    {
        PathId path; //!< invalid: it has chosen none
        uint32_t flows{0};
    };

    static constexpr uint32_t INDEX_BITS = 24; //!< as FluidTransport
    static constexpr uint64_t INDEX_MASK = (uint64_t{1} << INDEX_BITS) - 1;

    void OnMessageSent(uint32_t message, int64_t now) override;
    void OnMessageDone(uint32_t message, int64_t now) override;

    FlowCounters& CountersOf(uint32_t message) override
    {
        return m_flows[message].counters;
    }

    std::optional<Datagram> NextDatagram(LinkId link, unsigned trafficClass, Time now) override;
    void OnDatagram(uint64_t handle, bool isMarked, Time now) override;
    void OnDatagramLost(uint64_t handle, LinkId link, Time now) override;
    void Handle(EventWheel::Event event, int64_t now);
    void Prefetch();
    uint32_t Find(FlowId id) const;
    void Wake(Time now);
    void Post(uint32_t flow, int64_t now);
    uint32_t ConnectionOf(const FlowRequest& request);
    void CheckLossyQueues() const;
    void CountIdlePath(RouteId route, const ConnectionFacts& facts);
    uint32_t PortInto(PathId path) const;
    int64_t PausedTime(const Flow& flow, int64_t now);
    bool IsFootprint(RouteId route, PathId path) const;
    void OpenFootprint(Connection& connection);
    std::vector<PathId> PathsOf(RouteId route);
    PathId BestPath(RouteId route);
    FlowPath PathOf(const Connection& connection, std::size_t parts);
    void ChoosePath(Connection& connection, uint32_t pair, int64_t now);
    void Take(Connection& connection, uint32_t pair, int64_t now);
    void Count(uint32_t pair, bool isMore);
    bool ChooseAgain(Connection& connection, int64_t now);
    bool TakeRoute(Connection& connection, int64_t now);
    QueuePairs::Path HopsOf(PathId path);
    std::vector<QueuePairs::Path> HopsOf(const std::vector<PathId>& paths);
    ConnectionFacts FactsOf(PathId path) const;
    ConnectionFacts FactsOf(std::vector<PathId> paths) const;
    bool CrossesNetwork(PathId path) const;
    bool HasDownLink(PathId path) const;
    std::string DescribeLivelock(const QueuePairs::Livelock& livelock) const;
    void Reroute(int64_t now);
    LinkId FirstDownLink(PathId path) const;

    PacketSpec m_spec;
    Routing& m_routing;
    EventWheel m_wheel;
    PacketPool m_packets;
    QueuePairs m_pairs;
    PacketNetwork m_network;
    Datagrams m_datagrams;
    DatagramClient* m_datagramClient{nullptr};
    std::deque<Flow> m_flows; //!< clients start some while they are told of others
    std::vector<uint32_t> m_unused;
    std::deque<Connection> m_connections;               //!< in the order in which they were opened
    std::vector<std::vector<uint32_t>> m_connectionsOf; //!< by route: into m_connections
    std::unordered_map<RouteId, PathId> m_bestPaths;    //!< where packets are sprayed
    std::vector<QueuePairs::Path> m_hopsOfPath;         //!< by path; forward END: not kept yet
    std::unique_ptr<PathSelector> m_ownSelector;        //!< null: it is somebody else's, or none
    PathSelector* m_selector{nullptr};                  //!< null: switches do not choose by load
    std::vector<Choice> m_choices;                      //!< by queue pair
    std::vector<bool> m_isCounted;                      //!< by route, see CountIdlePath
    IdlePath m_longest;
    uint64_t m_started{0};
    std::size_t m_active{0};
    uint64_t m_events{0};
    Time m_now;
    std::vector<PacketNetwork::Upcoming> m_soon; //!< see PacketNetwork::Prefetch
    bool m_hasTold{false};                       //!< somebody was told of something
    TransportObservers m_observers;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRANSPORT_H
