// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRANSPORT_H

#include "fabric/routing/routing.h"
#include "fabric/transport/flow-slots.h"
#include "fabric/transport/packet/datagrams.h"
#include "fabric/transport/packet/event-wheel.h"
#include "fabric/transport/packet/packet-network.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/packet/packet-train.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/transport/packet/queue-pairs.h"
#include "fabric/transport/path-selector.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir
{

/** Usage of @p link, from the counters of its port. */
LinkUsage UsageOf(const PortCounters& counters, const Link& link);

/**
 * Moves bytes as packets. Each route is a queue pair (or several: FlowRequest::connections), flows
 * are messages on it, and packets cross the ports and switches of PacketNetwork.
 *
 * An uncontended flow of B bytes in packets of at most `mtu` takes its overhead, the transmission
 * time of all its packets on the slowest link, that of the last packet (or of the first, whichever
 * is behind) on each other link, and the path's latency.
 *
 * A flow without an ordered path (a multicast or a reduction in switches) uses all its links at
 * once: its bytes are sent over each of them, and it is done when the last link has carried them.
 *
 * Where switches choose paths by load, a queue pair without active flows takes the path that a
 * fluid flow would take (PathSelector). It counts as a load of weight 1 on that path while it
 * carries flows.
 *
 * Datagrams of another client share the ports with the flows (SetDatagramClient, OfferDatagrams).
 *
 * Weights are ignored. Link usage is in bytes at the payload rate: bytes on the wire times the
 * framing. A packet counts from the start of its transmission. A link is saturated while it sends
 * and another packet waits for it.
 */
class PacketTransport final : public Transport, private MessageClient
{
  public:
    /**
     * @param others selector that also counts other flows on the links of @p routing, where
     *        switches choose by load; null: none. It and @p routing must outlive this object.
     * @throws std::invalid_argument if the values of @p spec are inconsistent with the topology.
     */
    PacketTransport(Routing& routing, PacketSpec spec, PathSelector* others = nullptr);
    PacketTransport(const PacketTransport&) = delete;
    PacketTransport& operator=(const PacketTransport&) = delete;

    Time NextEventTime() override;
    void AdvanceTo(Time now) override;
    Time AdvanceExclusively(Time limit) override;

    /**
     * Checks a request.
     * @throws std::invalid_argument as Start; also for a sum of routes, which only a fluid carries.
     */
    void Check(const FlowRequest& request) const;

    FlowId Start(const FlowRequest& request, Time now) override;
    void SetLinkRate(LinkId link, Rate rate, Time now) override;
    void SetLinkLoss(LinkId link, double part, Time now) override;
    void SetLinksUp(const std::vector<LinkId>& links, bool up, Time now) override;

    bool IsLinkUp(LinkId link) const override
    {
        return m_network.IsUp(link.Index());
    }

    bool Cancel(FlowId id, Time now) override;
    Rate CurrentRate(FlowId id) override;
    FlowPath CurrentPath(FlowId id) override;
    LinkUsage GetLinkUsage(LinkId link) override;
    const PortCounters* GetPortCounters(LinkId link) override;
    const FlowCounters* GetFlowCounters(FlowId id) override;
    bool AddPortObserver(PortObserver& observer) override;
    void RemovePortObserver(PortObserver& observer) override;

    std::size_t ActiveFlows() const override
    {
        return m_active;
    }

    /** Whether no flow has packets to send, none is in flight, and no datagrams are offered. */
    bool IsAtRest() const
    {
        return m_active == 0 && m_canceled == 0 && m_packets.InUse() == 0 &&
               !m_datagrams.AreOffered();
    }

    Time UncontendedTime(const FlowRequest& request, PathId path) override;
    std::vector<StalledFlow> StalledFlows() override;

    /**
     * Describes a deadlock (a cycle of ports that wait for each other) or a livelock (a queue pair
     * that retransmits the same packets forever, after which there is no next event); empty if
     * there is none. O(packets).
     */
    std::string DescribeWaiting() const override;

    const PacketSpec& GetSpec() const
    {
        return m_spec;
    }

    /** Rate that queue pairs demand of their path. */
    struct Demand
    {
        Rate allowed{Rate::Infinite()}; //!< rate allowed by congestion control, payload
        int64_t sent{0};                //!< payload bytes sent since the start of the run
        Time roundTrip;                 //!< uncontended round trip of a full packet and its
                                        //!< acknowledgment
        uint32_t mtu{0};                //!< payload of a full packet, bytes
    };

    /**
     * Demand of all queue pairs of a flow's route, stream and traffic class; zero during the flow's
     * overhead, and once its packets have arrived.
     */
    Demand DemandOf(FlowId id) const;

    /** Payload bytes of a flow not yet received; zero for a flow that has ended. */
    int64_t BytesLeft(FlowId id) const;

    /**
     * Changes the length of a flow so that @p left payload bytes are not yet received; bytes
     * already sent remain part of the flow.
     * @return false, with nothing changed, if the flow is in its overhead or one of its parts was
     *        sent completely
     */
    bool SetBytesLeft(FlowId id, int64_t left, Time now);

    /** Properties of an uncontended route. */
    struct IdlePath
    {
        RouteId route;    //!< invalid if there is none
        Time roundTrip;   //!< round trip of a full packet and its acknowledgment
        uint32_t hops{0}; //!< number of links from source to destination
    };

    /** The route with the longest round trip among those that flows have taken. */
    const IdlePath& LongestIdlePath() const
    {
        return m_longest;
    }

    /** Considers @p route for LongestIdlePath. Amortized O(1) if it was considered before. */
    void CountIdlePath(RouteId route);

    /** Request of an active flow; null if it has ended. */
    const FlowRequest* RequestOf(FlowId id) const;

    /** Sets the client that sends and receives datagrams. It must outlive this object. */
    void SetDatagramClient(DatagramClient& client)
    {
        m_datagrams.SetClient(client);
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

    /** Events handled since the start of the run. */
    uint64_t Events() const
    {
        return m_events;
    }

    /** Packet transmissions on links since the start of the run. O(links). */
    uint64_t PacketHops() const;

    /** Maximum number of packets in flight at once. */
    std::size_t PeakPackets() const
    {
        return m_packets.Peak();
    }

    /**
     * Checks that every packet is in exactly one queue or on one wire. O(packets).
     * @throws std::logic_error if not.
     */
    void CheckConservation() const;

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    enum class State : uint8_t
    {
        Unused,
        Delayed, //!< in its overhead
        Moving,
        Canceled //!< it has ended, but its packets have not all arrived
    };

    struct Flow
    {
        FlowRequest request;
        uint64_t id{0};
        Time started;
        uint32_t partsLeft{0}; //!< messages not yet done
        uint32_t partsUnsent{0};
        uint32_t connection{NONE}; //!< index into m_connections; NONE: it crosses no link
        FlowPath path;             //!< valid once the flow is posted
        uint32_t port{NONE};       //!< first network link; NONE: it stays inside a node
        State state{State::Unused};
        bool isStalled{false};
        FlowCounters counters;
        int64_t pausedBefore{0}; //!< PausedTime when the flow was posted, ps
    };

    /** The queue pairs of one stream and traffic class of a route. */
    /** The paths over which the packets of a route are sprayed. */
    struct Spray
    {
        std::vector<PathId> paths; //!< in the order of the packets
        bool areAlike{true};       //!< hop by hop
        bool isOpen{true};         //!< whether all links have a rate
    };

    struct Connection
    {
        RouteId route;
        uint8_t trafficClass{1};
        std::vector<uint32_t> pairs; //!< one a part; for a footprint (unordered links), one a link
        FlowPath whole;              //!< links of its flows, unless switches choose by load
        PathId path;                 //!< current path of the pairs, or the path chosen last
        bool isFootprint{false};
        bool isStalled{false};
    };

    /** Path of a queue pair where switches choose by load. */
    struct Choice
    {
        PathId path; //!< invalid before the first choice
        uint32_t flows{0};
    };

    void OnMessageSent(uint32_t message, int64_t now) override;
    void OnMessageDone(uint32_t message, int64_t now) override;

    FlowCounters& CountersOf(uint32_t message) override
    {
        return m_flows[message].counters;
    }

    void Handle(EventWheel::Event event, int64_t now);
    uint32_t FindSlot(FlowId id) const;

    uint32_t Find(FlowId id) const;
    void Wake(Time now);
    void Post(uint32_t flow, int64_t now);
    uint32_t ConnectionOf(const FlowRequest& request);
    void CheckLossyQueues() const;
    void CountIdlePath(RouteId route, const ConnectionFacts& facts);
    std::size_t PartsOf(const Flow& flow) const;
    uint32_t PortInto(PathId path) const;
    int64_t PausedTime(const Flow& flow, int64_t now);
    bool IsFootprint(RouteId route, PathId path) const;
    void OpenFootprint(Connection& connection);
    std::vector<PathId> PathsOf(RouteId route);
    const Spray& SprayOf(RouteId route);
    int64_t SprayedTime(PacketTrain& train,
                        const PacketTrain::Load& load,
                        const Spray& spray) const;
    std::vector<uint32_t> LinksOf(PathId path) const;
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
    std::string DescribeLivelock(const QueuePairs::Livelock& livelock) const;
    void Reroute(int64_t now);

    PacketSpec m_spec;
    Routing& m_routing;
    EventWheel m_wheel;
    PacketPool m_packets;
    QueuePairs m_pairs;
    PacketNetwork m_network;
    Datagrams m_datagrams;
    FlowSlots<FlowForm::Packets, std::deque<Flow>>
        m_flows;                          //!< a deque, since clients start flows inside callbacks
    std::deque<Connection> m_connections; //!< in the order of opening
    std::unordered_map<ConnectionKey, uint32_t, ConnectionKey::Hash> m_connectionIndices;
    std::unordered_map<RouteId, Spray> m_sprays; //!< by route, for UncontendedTime
    std::vector<QueuePairs::Path> m_hopsOfPath;  //!< by path; forward is END until stored
    std::unique_ptr<PathSelector> m_ownSelector; //!< null if the selector is shared, or not
                                                 //!< needed
    PathSelector* m_selector{nullptr};           //!< null: switches do not choose by load
    std::vector<Choice> m_choices;               //!< by queue pair
    std::vector<bool> m_isCounted;               //!< by route: was considered by
                                                 //!< CountIdlePath
    IdlePath m_longest;
    std::size_t m_active{0};
    std::size_t m_canceled{0}; //!< canceled flows whose packets have not all arrived
    uint64_t m_events{0};
    Time m_now;
    bool m_hasTold{false}; //!< a client or observer was called since the last
                           //!< reset
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_TRANSPORT_H
