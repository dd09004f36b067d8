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
#include <optional>
#include <utility>
#include <vector>

namespace weir
{

/** A packet of somebody else: the fabric moves its bytes, and knows nothing of what they are. */
struct Datagram
{
    RouteId route;
    uint32_t bytes{0};        //!< on the wire, headers, preamble and gap included
    uint64_t handle{0};       //!< its sender's own
    bool isEcnCapable{false}; //!< whether switches may mark it
};

/** Whose datagrams they are. */
class DatagramClient
{
  public:
    virtual ~DatagramClient() = default;

    /** A port has time for a datagram of a class; none: it asks after the next Offer only. */
    virtual std::optional<Datagram> NextDatagram(LinkId link, unsigned trafficClass, Time now) = 0;

    /** A datagram is at its destination. @param isMarked a switch has marked it (ECN). */
    virtual void OnDatagram(uint64_t handle, bool isMarked, Time now) = 0;

    /** A datagram was dropped before @p link, or was on it when it failed. */
    virtual void OnDatagramLost(uint64_t handle, LinkId link, Time now) = 0;
};

/**
 * Both ends of datagrams: they take the ports, queues and buffers that packets of queue pairs take,
 * in traffic classes of their own. Nothing acknowledges them or sends them again.
 *
 * A datagram takes its route's path; where routing is spray, datagrams of a route take the paths of
 * PacketSpec::queuePair.paths source ports in turns.
 */
class Datagrams final : public PacketEnds
{
  public:
    static constexpr unsigned FIRST_CLASS = 2; //!< class 1 is of flows alone

    /** All must outlive it. */
    Datagrams(const PacketSpec& spec,
              Routing& routing,
              PacketPool& packets,
              PacketNetwork& network,
              DatagramClient& client);

    /**
     * There are datagrams for a port, the first hop of their routes: it asks for them, one after
     * another, until it gets none. @throws std::invalid_argument when datagrams have no such class.
     */
    void Offer(LinkId link, unsigned trafficClass, int64_t now);

    /** Links have failed or come up. */
    void Reroute();

    /** A route whose datagrams begin to flow, and when the first of them left. */
    struct Beginning
    {
        RouteId route;
        Time at;
    };

    /** Whether TakeBeginnings has any. */
    bool HasBeginnings() const
    {
        return !m_beginnings.empty();
    }

    /** Routes whose first datagrams have left, or the first ones since Rest; each once. */
    std::vector<Beginning> TakeBeginnings()
    {
        return std::exchange(m_beginnings, {});
    }

    /** The next datagram of a route is a first one again. */
    void Rest(RouteId route)
    {
        m_traffic[route.Index()].isFlowing = false;
    }

    /** What has left by a route so far. */
    struct Traffic
    {
        int64_t bytes{0}; //!< on the wire
        int64_t datagrams{0};
        int64_t underWay{0}; //!< of these
        bool isFlowing{false};
    };

    /** Of a route of TakeBeginnings. */
    const Traffic& TrafficOf(RouteId route) const
    {
        return m_traffic[route.Index()];
    }

    /** Whether ports have been offered datagrams and have not got all of them yet. */
    bool AreOffered() const
    {
        return m_offers > 0;
    }

    /** @throws std::invalid_argument when the client's datagram is longer than any packet. */
    uint32_t NextPacket(uint32_t link, unsigned trafficClass, int64_t now) override;
    void OnPacket(uint32_t packet, int64_t now) override;
    void OnLost(uint32_t packet, int64_t now) override;

  private:
    /** Where the datagrams of a route go. */
    struct Paths
    {
        std::vector<uint32_t> places; //!< of PacketNetwork::AddHops; empty: not known yet
        uint32_t turn{0};
    };

    void NoteSent(const Datagram& datagram, int64_t now);
    uint32_t PlaceOf(RouteId route);
    uint32_t HopsOf(PathId path);

    const PacketSpec& m_spec;
    Routing& m_routing;
    PacketPool& m_packets;
    PacketNetwork& m_network;
    DatagramClient& m_client;
    std::vector<Paths> m_paths;          //!< by route
    std::vector<Traffic> m_traffic;      //!< by route
    std::vector<Beginning> m_beginnings; //!< not taken yet
    std::size_t m_offers{0};             //!< classes of ports that have datagrams
    std::vector<uint32_t> m_placeOfPath; //!< by path; END: not kept yet
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_DATAGRAMS_H
