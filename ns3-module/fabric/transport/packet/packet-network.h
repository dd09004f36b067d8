// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_NETWORK_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_NETWORK_H

#include "fabric/ids.h"
#include "fabric/topology/topology.h"
#include "fabric/transport/packet/class-arbiter.h"
#include "fabric/transport/packet/event-wheel.h"
#include "fabric/transport/packet/flow-control.h"
#include "fabric/transport/packet/huge-page-allocator.h"
#include "fabric/transport/packet/packet-counters.h"
#include "fabric/transport/packet/packet-spec.h"
#include "fabric/transport/packet/packet.h"
#include "fabric/transport/packet/port-observer.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir
{

/** Where packets come from and go to: the queue pairs of the devices at both ends. */
class PacketEnds
{
  public:
    virtual ~PacketEnds() = default;

    /**
     * The next packet that a device wants to send itself over @p link in @p trafficClass;
     * Packet::NONE when there is none (yet). Asked only after PacketNetwork::SetSource.
     */
    virtual uint32_t NextPacket(uint32_t link, unsigned trafficClass, int64_t now) = 0;

    /** How many senders take turns at NextPacket. */
    virtual std::size_t Waiting(uint32_t link, unsigned trafficClass) const
    {
        return 1;
    }

    /** A packet is at its destination; it is freed after that. */
    virtual void OnPacket(uint32_t packet, int64_t now) = 0;

    /** Has memory fetched that OnPacket will look at soon. */
    virtual void Prefetch(const Packet& packet) const
    {
    }

    /** Has memory fetched that NextPacket will look at soon. */
    virtual void PrefetchNext(uint32_t link, unsigned trafficClass) const
    {
    }

    /** A packet was dropped, or was on a link (`nextLink`) that failed; it is freed after that. */
    virtual void OnLost(uint32_t packet, int64_t now) = 0;
};

/** What a packet takes of credits. */
struct PacketShape
{
    uint32_t size{0};    //!< bytes on the network's wires
    uint32_t payload{0}; //!< bytes
    uint32_t hop{0};     //!< as Packet's; PacketNetwork::END: it may go anywhere
};

/**
 * Moves packets over links: ports with a queue a traffic class, switches that mark, pause, trim and
 * drop, wires on which packets follow each other.
 *
 * Class 0 is that of control packets, which go first and never fill a buffer (at a switch that
 * trims, so many one after another, and a queue of their own); the others share a port as a
 * ClassArbiter says. A port sends whole packets one after another (store and forward), or passes a
 * packet on while it is still coming (cut-through); a packet is at the end of the wire its
 * transmission time and the link's latency after its start.
 *
 * A packet costs one event a hop where the port is idle when it comes, and two where it waits.
 */
class PacketNetwork
{
  public:
    /** All must outlive it. */
    PacketNetwork(const Topology& topology,
                  const PacketSpec& spec,
                  EventWheel& events,
                  PacketPool& packets,
                  PacketEnds& ends);

    /** Datagrams come from and go to @p ends, and all packets of @p classes (bits) are such. */
    void SetDatagrams(PacketEnds& ends, uint8_t classes)
    {
        m_datagrams = &ends;
        m_datagramClasses = classes;
    }

    /** Tells @p observer, which must outlive it, of what happens at a port from now on. */
    void AddObserver(uint32_t link, PortObserver& observer);

    /** Tells it of nothing more at that port. */
    void RemoveObserver(uint32_t link, PortObserver& observer);

    /** Marks the end of a path among hops. */
    static constexpr uint32_t END = 0xffffffff;

    /**
     * Keeps a path. @return the place of its first hop, for Packet::hop.
     * @throws std::invalid_argument where classes rise by hop, and there are too few for it.
     */
    uint32_t AddHops(const std::vector<LinkId>& links);

    /** The link at that place, or END. */
    uint32_t HopAt(uint32_t place) const
    {
        return m_hops[place];
    }

    /** Puts a packet of a device behind those that wait for its first hop. */
    void Send(uint32_t packet, int64_t now)
    {
        Enqueue(packet, m_hops[m_packets[packet].hop], now);
    }

    /** Says whether a device has packets of its own for a port, to be had by NextPacket. */
    void SetSource(uint32_t link, unsigned trafficClass, bool hasPackets, int64_t now);

    /** Whether a device has said that it has packets of its own for a port. */
    bool HasSource(uint32_t link, unsigned trafficClass) const
    {
        return (m_ports[link].sources >> trafficClass & 1) != 0;
    }

    void OnArrival(uint32_t link, int64_t now);

    /** An event of a link that is due soon. */
    struct Upcoming
    {
        uint32_t link{0};
        bool isArrival{false};         //!< else a port is ready
        uint32_t packet{Packet::NONE}; //!< that arrives, or leaves
    };

    /** Ports that have sent something. */
    std::size_t UsedPorts() const
    {
        return m_usedPorts;
    }

    /** Has memory fetched that these will look at. Leaves @p events empty. */
    void Prefetch(std::vector<Upcoming>& events) const;

    void OnPortReady(uint32_t link, int64_t now)
    {
        TransmitNext(link, now);
    }

    void OnRefresh(uint32_t link, int64_t now);

    /** @param rate payload, as in the topology; zero: nothing moves. */
    void SetRate(uint32_t link, Rate rate, int64_t now);

    /**
     * Packets get this part of a link's rate from the next one on: other traffic has the rest, and
     * is in the queue as it is on the link, so that marking sees both.
     */
    void SetShare(uint32_t link, double part);

    /**
     * Whether the other end of a link has room for a packet that the device at its beginning sends
     * now; where it has not, the port asks again when it has. What has no credits has room.
     */
    bool HasCredits(uint32_t link, unsigned trafficClass, const PacketShape& packet, int64_t now);

    /** Whether a switch passes packets on while they come, by picoseconds a byte in and out: those
     * that come more slowly than they would leave it stores first. */
    bool CutsThrough(double in, double out) const
    {
        return m_spec.switches.cutThrough && in <= out;
    }

    /** Each packet is lost on a link with this probability from now on. */
    void SetLoss(uint32_t link, double part);

    void SetUp(uint32_t link, bool up, int64_t now);

    bool IsUp(uint32_t link) const
    {
        return m_ports[link].isUp;
    }

    /** Whether a link begins at a GPU, which stores in its memory what it relays. */
    bool IsOfGpu(uint32_t link) const
    {
        return m_ports[link].isOfGpu;
    }

    /** When a port has sent what it is sending. */
    int64_t BusyUntil(uint32_t link) const
    {
        return m_ports[link].busyUntil;
    }

    /** Rate on the wire, headers included, bytes/s; all of it, or the share that packets have. */
    double WireRate(uint32_t link) const
    {
        return 1e12 / m_details[link].wholePsPerByte;
    }

    double ServiceRate(uint32_t link) const
    {
        return 1e12 / m_ports[link].psPerByte;
    }

    /** What a packet is on the wire: headers are on the network's links only. */
    uint32_t BytesOf(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_ports[link].isNetwork || payload == 0 ? size : payload;
    }

    /** What a packet takes to be sent, picoseconds. */
    int64_t TransmissionTime(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_spec.WholeTime(m_ports[link].psPerByte * BytesOf(link, size, payload));
    }

    /** As above, where packets have the whole link. */
    int64_t WholeTransmissionTime(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_spec.WholeTime(m_details[link].wholePsPerByte * BytesOf(link, size, payload));
    }

    /** As above, at the rate that the topology gives the link. */
    int64_t NominalTransmissionTime(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_spec.WholeTime(PsPerByte(link, m_topology.GetLink(LinkId(link)).rate) *
                                BytesOf(link, size, payload));
    }

    /** Rate on the wire at that rate, bytes/s. */
    double NominalWireRate(uint32_t link) const
    {
        return 1e12 / PsPerByte(link, m_topology.GetLink(LinkId(link)).rate);
    }

    int64_t Latency(uint32_t link) const
    {
        return m_ports[link].latency;
    }

    PortCounters Counters(uint32_t link) const;

    /** As above, with the pause that lasts at @p now; tells of pauses that have expired by then. */
    const PortCounters& CountersAt(uint32_t link, int64_t now);

    /** A device sends a data packet again over @p link, its first one. */
    void CountRetransmission(uint32_t link)
    {
        m_counters[link].retransmissions++;
    }

    /** Bytes that wait in a port's queues. */
    int64_t QueuedBytes(uint32_t link) const;

    /**
     * Packets that all ports and wires hold: as many as the pool has in use. O(packets).
     * @throws std::logic_error when a port holds another number than it has counted.
     */
    uint64_t CountHeld() const;

    std::size_t Links() const
    {
        return m_ports.size();
    }

    unsigned Classes() const
    {
        return m_classes;
    }

    /** Bytes on the wire of the longest packet on a link; inside nodes, of a burst. */
    int64_t MaxBytes(uint32_t link) const;

    /** The headroom of a link and class: what may come after it asked for a pause. */
    int64_t HeadroomOf(uint32_t link) const;

    /**
     * Ports of which each waits for the next one, the last for the first: packets that wait for a
     * pause or credits are held by packets that wait. Empty when there is none. O(packets).
     */
    std::vector<LinkId> FindDeadlock() const;

  private:
    /** How what comes by a link is kept from filling the device that it comes to. */
    enum class Admission : uint8_t
    {
        Lossy, //!< by the room of the port that it goes to
        Pfc,
        Credits
    };

    struct alignas(64) Port
    {
        int64_t busyUntil{0};
        int64_t latency{0};
        double psPerByte{1}; //!< of packets' share of the last rate that was not zero
        double share{1};     //!< see SetShare
        PacketList wire;
        uint32_t backlog{0};   //!< packets in its queues
        uint8_t paused{0};     //!< bit by class
        uint8_t sources{0};    //!< as above: the device has packets for it
        uint8_t heldBack{0};   //!< as above: its first packet could not be sent in its turn
        uint8_t uncredited{0}; //!< as above, while it is observed: a packet waits for credits
        uint8_t pausing{0};    //!< as above: at its end more of it was asked to wait
        Admission admission{Admission::Lossy};
        bool isUp{true};
        bool isStopped{false};  //!< its rate is zero
        bool isNetwork{true};   //!< packets have headers there
        bool isOfSwitch{false}; //!< marks, trims
        bool isObserved{false};
        bool isLossy{false}; //!< see SetLoss
        bool isPcie{false};
        bool waitsForCredits{false};
        bool isSource{false}; //!< the device has had packets for it
        bool isOfGpu{false};  //!< which keeps in its memory what it relays
        uint32_t to{0};
    };

    static_assert(sizeof(Port) == 64, "ports fill a line of the cache");

    /** What few packets look at of a port. */
    struct PortDetails
    {
        double wholePsPerByte{1}; //!< as psPerByte, were all of the link the packets'
        int64_t latencyBack{0};   //!< ps: what tells the link's sender of something takes
        ClassArbiter::State turn;
        double loss{0}; //!< see SetLoss
        uint32_t opposite{END};
        uint32_t controlRun{0}; //!< control packets sent since data has begun to wait for them
        int64_t ownLead{0};     //!< bytes that its device has sent beyond its turns
    };

    /** What each packet counts that a port sends: see PortCounters. */
    struct alignas(32) Sent
    {
        uint64_t packets{0};
        uint64_t bytes{0};
        int64_t busy{0};
        int64_t backlogged{0};
    };

    struct alignas(32) Queue
    {
        PacketList packets;
        uint32_t count{0};
        uint32_t marks{0}; //!< that m_counters does not have yet
        int64_t bytes{0};
        int64_t maxBytes{0}; //!< since the beginning
    };

    /** Of a link on the wire where its payload has @p rate. */
    double PsPerByte(uint32_t link, Rate rate) const
    {
        return 1e12 / (rate.ToBytesPerSecond() / PayloadPart(m_topology.GetLink(LinkId(link))));
    }

    Queue& QueueOf(uint32_t link, unsigned trafficClass)
    {
        return m_queues[link * m_classes + trafficClass];
    }

    IngressAccount& AccountOf(uint32_t link, unsigned trafficClass)
    {
        return m_accounts[std::size_t{link} * (m_classes - 1) + trafficClass - 1];
    }

    /** A pause that is not renewed would hold for ever were what ends it lost. */
    bool CanBeLost(const Packet& packet) const
    {
        return packet.kind != PacketKind::Pause || !m_spec.switches.pauseTime.IsInfinite();
    }

    /** How what came by a link is admitted in a class: those beyond the lossless ones are lossy. */
    Admission AdmissionOf(const Port& ingress, unsigned trafficClass) const
    {
        return ingress.admission == Admission::Pfc && trafficClass > m_losslessClasses
                   ? Admission::Lossy
                   : ingress.admission;
    }

    PacketEnds& EndsOf(const Packet& packet) const
    {
        return packet.kind == PacketKind::Datagram ? *m_datagrams : m_ends;
    }

    uint32_t FirstQueued(uint32_t link) const;
    uint64_t CountIn(const PacketList& list) const;
    void Enqueue(uint32_t packet, uint32_t link, int64_t now);
    bool Admit(uint32_t packet, uint32_t link, int64_t now);
    bool IsFull(uint32_t link, const Packet& packet, uint32_t freed);
    bool TrimTail(uint32_t packet, uint32_t link, int64_t now);
    bool TrimOrDrop(uint32_t packet, uint32_t link, int64_t now);
    bool HasControlRoom(uint32_t packet, uint32_t link) const;
    bool IsTurnOfData(uint32_t link) const;
    double Draw(uint32_t link);
    void Drop(uint32_t packet, uint32_t link, int64_t now);
    void Push(uint32_t packet, uint32_t link);
    void TransmitNext(uint32_t link, int64_t now);
    bool TransmitData(uint32_t link, int64_t now);
    uint32_t TransmitOf(uint32_t link, unsigned trafficClass, int64_t now);
    uint32_t OwnPacket(uint32_t link, unsigned trafficClass, int64_t now);
    std::size_t ForwardedOwners(uint32_t link, unsigned trafficClass);
    void ForgetForwarded(const Packet& packet, uint32_t link);

    /** Who sends in a class. */
    PacketEnds& EndsFor(unsigned trafficClass) const
    {
        return (m_datagramClasses >> trafficClass & 1) == 0 ? m_ends : *m_datagrams;
    }

    void Transmit(uint32_t packet, uint32_t link, int64_t now);
    void Release(const Packet& packet, uint32_t link, int64_t now);
    int64_t& LossyRoomOf(uint32_t link, unsigned trafficClass);
    void ReturnCredits(const Packet& packet, uint32_t ingress, int64_t now);
    int64_t MaxPayload(uint32_t link) const;

    static PacketShape ShapeOf(const Packet& packet)
    {
        return {packet.size, packet.payload, packet.hop};
    }

    /** Whether a packet is on its way to the network yet. */
    bool IsToNetwork(uint32_t hop) const
    {
        return m_isToNetwork[hop] != 0;
    }

    /** Whether a network adapter reads a packet's payload over a link, with a tag for it. */
    bool IsRead(uint32_t link, const PacketShape& packet) const
    {
        return m_ports[link].isPcie && !m_reads.empty() && packet.payload > 0 &&
               (packet.hop == END || IsToNetwork(packet.hop));
    }

    void CheckPauseTime(uint32_t ingress) const;
    void CheckTelemetry(const std::vector<LinkId>& links) const;
    bool IsRaised(LinkId first, LinkId second) const;
    void CheckClasses(const std::vector<LinkId>& links, unsigned raised) const;
    void SetTlpCredits(uint32_t link, int64_t room);
    template <typename F>
    void ForCredits(uint32_t link, unsigned trafficClass, const PacketShape& packet, const F& take);
    void ReturnRead(Packet& packet, int64_t now);

    /** What a packet takes of a switch's buffer. */
    int64_t RoomOf(uint32_t size) const
    {
        return m_cell == 1 ? size : (size + m_cell - 1) / m_cell * m_cell;
    }

    /** Latency of a link and of its opposite one, ps. */
    int64_t RoundTrip(uint32_t link) const
    {
        return m_ports[link].latency + m_details[link].latencyBack;
    }

    int64_t UnitsOf(int64_t size) const
    {
        const int64_t unit = m_spec.switches.creditUnit.Count();
        return (size + unit - 1) / unit;
    }

    void Mark(Packet& packet, uint32_t link, int64_t queued, int64_t now);
    void Stamp(uint32_t packet, uint32_t link, int64_t now);
    void SendPause(uint32_t ingress, unsigned trafficClass, bool resume, int64_t now);
    void OnPause(const Packet& packet, uint32_t link, int64_t now);
    void ExpirePauses(uint32_t link, int64_t now);
    int64_t WholeAt(const Packet& packet, uint32_t link) const;
    void LoseQueued(uint32_t packet, uint32_t link, int64_t now);
    void LoseOnWire(uint32_t packet, uint32_t link, int64_t now);
    void TellQueue(uint32_t link, unsigned trafficClass, int64_t now);
    void TellPause(uint32_t link, unsigned trafficClass, bool isPaused, int64_t now);
    void TellCreditWait(uint32_t link, unsigned trafficClass, bool isWaiting, int64_t now);
    void SetWireRate(uint32_t link, Rate rate);
    uint32_t OutputsBehind(uint32_t link) const;
    void SetAdmission(uint32_t link);
    void CheckSwitches() const;

    const Topology& m_topology;
    const PacketSpec& m_spec;
    EventWheel& m_events;
    PacketPool& m_packets;
    PacketEnds& m_ends;
    PacketEnds* m_datagrams{nullptr};
    unsigned m_classes;
    unsigned m_losslessClasses;
    ClassArbiter m_arbiter;
    uint8_t m_datagramClasses{0};             //!< bit by class
    int64_t m_cell;                           //!< bytes
    int64_t m_controlRoom;                    //!< bytes, see SwitchSpec::controlQueue
    uint32_t m_controlRun;                    //!< see SwitchSpec::controlRun; 0: any number
    bool m_boundsTlpHeaders;                  //!< whether PCIe links have credits of headers
    AlignedVector<Port> m_ports;              //!< by link
    AlignedVector<Queue> m_queues;            //!< by link and class
    AlignedVector<Sent> m_sent;               //!< by link
    std::size_t m_usedPorts{0};               //!< that have sent something
    AlignedVector<IngressAccount> m_accounts; //!< by link that leads in and class of data
    std::vector<PortDetails> m_details;       //!< by link
    std::vector<PortCounters> m_counters;     //!< by link, beside m_sent and m_queues
    std::vector<int64_t> m_lossyRoom;         //!< by link and class: of queues, where cells count
    std::vector<int64_t> m_pausedUntil;       //!< by link and class, ps
    std::vector<int64_t> m_pausedSince;       //!< by link, ps
    std::vector<LinkCredits> m_credits;       //!< by link and class, of links with credits; of
                                              //!< PCIe links headers and data by kind
    std::vector<LinkCredits> m_reads;         //!< bytes by link, of PCIe links where tags count
    std::vector<uint32_t> m_creditPlace;      //!< by link: into m_credits
    std::vector<SharedBuffer> m_buffers;      //!< by device
    std::unordered_map<std::size_t, std::unordered_map<uint32_t, uint32_t>>
        m_forwarded;               //!< by queue of a port that is a source: packets by their owner
    std::vector<uint64_t> m_draws; //!< by link: state of its random numbers
    std::vector<std::vector<PortObserver*>> m_observers; //!< by link; empty while there is none
    std::vector<uint32_t> m_hops;       //!< paths one after another, each with its END
    std::vector<uint8_t> m_isToNetwork; //!< by place in m_hops: a link of the network is to come
    std::vector<uint8_t> m_raises; //!< by place in m_hops: a packet is as many classes higher from
                                   //!< there on; empty where classes do not rise by hop
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_NETWORK_H
