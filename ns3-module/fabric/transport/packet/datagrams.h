// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_DATAGRAMS_H
#define WEIR_FABRIC_TRANSPORT_PACKET_DATAGRAMS_H

#include "fabric/ids.h"
#include "fabric/routing/routing.h"
#include "fabric/transport/packet/packet-network.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace weir
{

/** A packet of another client. The fabric moves its bytes and knows nothing of their meaning. */
struct Datagram
{
    RouteId route;
    uint32_t bytes{0};        //!< bytes on the wire, including headers, preamble and gap
    uint64_t handle{0};       //!< value chosen by the client
    bool isEcnCapable{false}; //!< whether switches may mark it
};

/** Sends and receives datagrams. */
class DatagramClient
{
  public:
    virtual ~DatagramClient() = default;

    /**
     * A port can send a datagram of a class. If none is returned, the port asks again only after
     * the next Offer.
     */
    virtual std::optional<Datagram> NextDatagram(LinkId link, unsigned trafficClass, Time now) = 0;

    /** A datagram has arrived. @param isMarked whether a switch has marked it (ECN) */
    virtual void OnDatagram(uint64_t handle, bool isMarked, Time now) = 0;

    /** A datagram was dropped before @p link, or lost on it when the link failed. */
    virtual void OnDatagramLost(uint64_t handle, LinkId link, Time now) = 0;
};

/**
 * Both ends of datagrams. They use the same ports, queues and buffers as packets of queue pairs, in
 * traffic classes of their own. They are neither acknowledged nor retransmitted.
 *
 * A datagram takes its route's path. Under spray routing, the datagrams of a route take the paths
 * of PacketSpec::queuePair.paths source ports round robin.
 */
class Datagrams final : public PacketEndpoints
{
  public:
    static constexpr unsigned FIRST_CLASS = 2; //!< class 1 is reserved for flows

    /**
     * All references must outlive it.
     * @param hopsOf returns the index of PacketNetwork::AddHops of a path
     * @param hasTold set whenever the client is called
     */
    Datagrams(const PacketSpec& spec,
              Routing& routing,
              PacketPool& packets,
              PacketNetwork& network,
              std::function<uint32_t(PathId)> hopsOf,
              bool& hasTold);

    /** Sets the client that sends and receives datagrams. It must outlive this object. */
    void SetClient(DatagramClient& client)
    {
        m_client = &client;
    }

    bool HasClient() const
    {
        return m_client != nullptr;
    }

    /**
     * Announces datagrams for a port, the first hop of their routes. The port requests them one by
     * one until it gets none.
     * @throws std::invalid_argument if datagrams have no such class.
     */
    void Offer(LinkId link, unsigned trafficClass, int64_t now);

    /** Recomputes paths after links have failed or come up. */
    void Reroute()
    {
        m_paths.clear();
    }

    /** A route that has become active, and the time when its first datagram left. */
    struct Beginning
    {
        RouteId route;
        Time at;
    };

    /** Whether TakeActivatedRoutes would return any. */
    bool HasBeginnings() const
    {
        return !m_beginnings.empty();
    }

    /**
     * Returns the routes that have become active (for the first time, or since Rest); each once.
     */
    std::vector<Beginning> TakeActivatedRoutes()
    {
        return std::exchange(m_beginnings, {});
    }

    /** Marks a route as inactive, so that its next datagram reports it again. */
    void Rest(RouteId route)
    {
        m_traffic[route.Index()].isFlowing = false;
    }

    /** Traffic of a route so far. */
    struct Traffic
    {
        int64_t bytes{0}; //!< bytes on the wire
        int64_t datagrams{0};
        int64_t inFlight{0}; //!< number of datagrams in flight
        bool isFlowing{false};
    };

    /** Traffic of a route that TakeActivatedRoutes has returned. */
    const Traffic& TrafficOf(RouteId route) const
    {
        return m_traffic[route.Index()];
    }

    /** Whether ports have offers from which they have not taken all datagrams. */
    bool AreOffered() const
    {
        return m_offers > 0;
    }

    /** @throws std::invalid_argument if the client's datagram is longer than the largest packet. */
    uint32_t NextPacket(uint32_t link, unsigned trafficClass, int64_t now) override;
    void OnPacket(uint32_t packet, int64_t now) override;
    void OnLost(uint32_t packet, int64_t now) override;

  private:
    /** Paths of a route's datagrams. */
    struct Paths
    {
        std::vector<uint32_t> hops; //!< indices of PacketNetwork::AddHops; empty until known
        uint32_t last{0};           //!< index in hops of the path used last
    };

    void NoteSent(const Datagram& datagram, int64_t now);
    uint32_t HopsOfNextPath(RouteId route);

    const PacketSpec& m_spec;
    Routing& m_routing;
    PacketPool& m_packets;
    PacketNetwork& m_network;
    std::function<uint32_t(PathId)> m_hopsOf;
    bool& m_hasTold;
    DatagramClient* m_client{nullptr};
    std::vector<Paths> m_paths;          //!< by route
    std::vector<Traffic> m_traffic;      //!< by route
    std::vector<Beginning> m_beginnings; //!< not yet returned by TakeActivatedRoutes
    std::size_t m_offers{0};             //!< number of port classes with offers
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DATAGRAMS_H
