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

/** Source and sink of packets: queue pairs or datagrams of the devices at both ends. */
class PacketEndpoints
{
  public:
    virtual ~PacketEndpoints() = default;

    /**
     * The next packet that a device itself sends over @p link in @p trafficClass; Packet::NONE if
     * there is none (yet). Called only after PacketNetwork::SetSource.
     */
    virtual uint32_t NextPacket(uint32_t link, unsigned trafficClass, int64_t now) = 0;

    /** Number of senders that share NextPacket round robin. */
    virtual std::size_t Waiting(uint32_t link, unsigned trafficClass) const
    {
        return 1;
    }

    /** A packet has reached its destination. It is freed after the call. */
    virtual void OnPacket(uint32_t packet, int64_t now) = 0;

    /** Prefetches memory that OnPacket will access. */
    virtual void Prefetch(const Packet& packet) const
    {
    }

    /** Prefetches memory that NextPacket will access. */
    virtual void PrefetchNext(uint32_t link, unsigned trafficClass) const
    {
    }

    /** A packet was dropped at, or lost on, the link `nextLink`. It is freed after the call. */
    virtual void OnLost(uint32_t packet, int64_t now) = 0;
};

/** Properties of a packet that decide which credits it takes. */
struct PacketShape
{
    uint32_t size{0};    //!< bytes on network links
    uint32_t payload{0}; //!< bytes
    uint32_t hop{0};     //!< next hop, as in Packet; PacketNetwork::END: any
};

/**
 * Moves packets over links: ports with one queue per traffic class; switches that mark, pause, trim
 * and drop; wires that carry packets in order.
 *
 * Class 0 carries control packets. They have strict priority and take no room in the shared buffer.
 * At a switch that trims, they have a bounded queue of their own, and data is served after a
 * bounded number of consecutive control packets. ClassArbiter arbitrates among the other classes. A
 * port forwards a packet once it has arrived whole (store and forward) or while it is still
 * arriving (cut-through). A packet reaches the end of the wire its transmission time plus the
 * link's latency after its start.
 *
 * A packet costs one event a hop if the port is idle when it arrives, and two if it waits.
 */
class PacketNetwork
{
  public:
    /** All arguments must outlive it. */
    PacketNetwork(const Topology& topology,
                  const PacketSpec& spec,
                  EventWheel& events,
                  PacketPool& packets,
                  PacketEndpoints& ends);

    /**
     * Sets the source and sink of datagrams. All packets of the traffic classes in the bit mask @p
     * classes are datagrams.
     */
    void SetDatagrams(PacketEndpoints& ends, uint8_t classes)
    {
        m_datagrams = &ends;
        m_datagramClasses = classes;
    }

    /** Registers @p observer for the events of a port from now on. It must outlive this object. */
    void AddObserver(uint32_t link, PortObserver& observer);

    /** Unregisters @p observer at a port. */
    void RemoveObserver(uint32_t link, PortObserver& observer);

    /** Ends a path in the list of hops. */
    static constexpr uint32_t END = 0xffffffff;

    /**
     * Stores a path.
     * @return the index of its first hop, for Packet::hop.
     * @throws std::invalid_argument if classes rise by hop and there are too few of them, or if the
     *         path has more switches than telemetry can record for a congestion control that needs
     *         it.
     */
    uint32_t AddHops(const std::vector<LinkId>& links);

    /** The link at that hop index, or END. */
    uint32_t HopAt(uint32_t index) const
    {
        return m_hops[index];
    }

    /** Enqueues a packet of a device at its first hop. */
    void Send(uint32_t packet, int64_t now)
    {
        Enqueue(packet, m_hops[m_packets[packet].hop], now);
    }

    /** Sets whether a device has packets of its own for a port, which NextPacket supplies. */
    void SetSource(uint32_t link, unsigned trafficClass, bool hasPackets, int64_t now);

    /** Whether SetSource has announced packets of the device itself for a port. */
    bool HasSource(uint32_t link, unsigned trafficClass) const
    {
        return (m_ports[link].sources >> trafficClass & 1) != 0;
    }

    void OnArrival(uint32_t link, int64_t now);

    /**
     * Prefetches the memory that the due events will access, so that the cache misses overlap. Does
     * nothing where that costs more than it saves.
     */
    void Prefetch();

    void OnPortReady(uint32_t link, int64_t now)
    {
        TransmitNext(link, now);
    }

    void OnRefresh(uint32_t link, int64_t now);

    /** @param rate payload rate, as in the topology; zero: nothing moves */
    void SetRate(uint32_t link, Rate rate, int64_t now);

    /**
     * Sets the fraction of a link's rate that packets get from the next packet on; other traffic
     * has the rest. Marking assumes the other traffic queues in the same proportion.
     * @param part fraction in (0, 1]
     */
    void SetShare(uint32_t link, double part);

    /**
     * Whether the sender at the start of a link has the credits for @p packet now. If not, the port
     * tries again when it has them. True for links without credits.
     */
    bool HasCredits(uint32_t link, unsigned trafficClass, const PacketShape& packet, int64_t now);

    /**
     * Whether a switch cuts packets through, given the time per byte (ps) of the input and output
     * links. A switch stores a packet first if it arrives more slowly than it would leave.
     */
    bool CutsThrough(double in, double out) const
    {
        return m_spec.switches.cutThrough && in <= out;
    }

    /** Sets the probability with which a link loses each packet from now on. */
    void SetLoss(uint32_t link, double part);

    void SetUp(uint32_t link, bool up, int64_t now);

    bool IsUp(uint32_t link) const
    {
        return m_ports[link].isUp;
    }

    /** Whether a link starts at a GPU, which stores the packets that it relays in its memory. */
    bool IsOfGpu(uint32_t link) const
    {
        return m_ports[link].isOfGpu;
    }

    /** When a port finishes its current transmission, ps. */
    int64_t BusyUntil(uint32_t link) const
    {
        return m_ports[link].busyUntil;
    }

    /** Rate of the whole link on the wire, headers included, bytes/s. */
    double WireRate(uint32_t link) const
    {
        return 1e12 / m_details[link].wholePsPerByte;
    }

    /** Bytes of a packet on a link; only network links carry headers. */
    uint32_t BytesOf(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_ports[link].isNetwork || payload == 0 ? size : payload;
    }

    /** Transmission time of a packet at the packets' share of the rate, ps. */
    int64_t TransmissionTime(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_spec.WholeTime(m_ports[link].psPerByte * BytesOf(link, size, payload));
    }

    /** Transmission time at the rate of the whole link, ps. */
    int64_t WholeTransmissionTime(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_spec.WholeTime(m_details[link].wholePsPerByte * BytesOf(link, size, payload));
    }

    /** Transmission time at the link rate of the topology, ps. */
    int64_t NominalTransmissionTime(uint32_t link, uint32_t size, uint32_t payload) const
    {
        return m_spec.WholeTime(PsPerByte(link, m_topology.GetLink(LinkId(link)).rate) *
                                BytesOf(link, size, payload));
    }

    /** Rate on the wire at the link rate of the topology, bytes/s. */
    double NominalWireRate(uint32_t link) const
    {
        return 1e12 / PsPerByte(link, m_topology.GetLink(LinkId(link)).rate);
    }

    /** Latency of a link, including that of the switch at its end, ps. */
    int64_t Latency(uint32_t link) const
    {
        return m_ports[link].latency;
    }

    PortCounters Counters(uint32_t link) const;

    /**
     * As Counters, including a pause that lasts at @p now. Reports pauses that have expired by then
     * to observers.
     */
    const PortCounters& CountersAt(uint32_t link, int64_t now);

    /**
     * Counts a retransmission of a data packet by the device at the start of @p link, its first
     * hop.
     */
    void CountRetransmission(uint32_t link)
    {
        m_counters[link].retransmissions++;
    }

    /** Bytes in a port's queues. */
    int64_t QueuedBytes(uint32_t link) const;

    /**
     * Counts the packets in all queues and on all wires, which equals the packets in use of the
     * pool. O(packets).
     * @throws std::logic_error if a port holds another number of packets than it has counted.
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

    /** Bytes on the wire of the largest packet on a link; inside nodes, of the largest burst. */
    int64_t MaxBytes(uint32_t link) const;

    /**
     * PFC headroom of a link and class, bytes: what may still arrive after a pause was requested.
     */
    int64_t HeadroomOf(uint32_t link) const;

    /**
     * Finds a deadlock: a cycle of ports in which each waits for the next, since packets that wait
     * for a pause or credits are behind packets that wait themselves. Empty if there is none.
     * O(packets).
     */
    std::vector<LinkId> FindDeadlock() const;

  private:
    /** How the buffer of the device at the end of a link is protected from packets of the link. */
    enum class Admission : uint8_t
    {
        Lossy, //!< limited by the queue of the egress port
        Pfc,
        Credits
    };

    struct alignas(64) Port
    {
        int64_t busyUntil{0};
        int64_t latency{0};
        double psPerByte{1}; //!< at the packets' share of the last nonzero rate
        double share{1};     //!< see SetShare
        PacketList wire;
        uint32_t backlog{0};   //!< packets in its queues
        uint8_t paused{0};     //!< bit by class
        uint8_t sources{0};    //!< bit by class: the device has packets for it
        uint8_t heldBack{0};   //!< bit by class: its head packet was blocked when served
        uint8_t uncredited{0}; //!< bit by class, while observed: a packet waits for credits
        uint8_t pausing{0};    //!< bit by class: the device at its end has paused it
        Admission admission{Admission::Lossy};
        bool isUp{true};
        bool isStopped{false};  //!< rate is zero
        bool isNetwork{true};   //!< packets carry headers on it
        bool isOfSwitch{false}; //!< it marks and trims
        bool isObserved{false};
        bool isLossy{false}; //!< see SetLoss
        bool isPcie{false};
        bool waitsForCredits{false};
        bool isSource{false}; //!< the device has sent packets of its own on it
        bool isOfGpu{false};  //!< its device is a GPU, which stores relayed packets in its memory
        uint32_t to{0};
    };

    static_assert(sizeof(Port) == 64, "ports fill a line of the cache");

    /** State of a port that few packets access. */
    struct PortDetails
    {
        double wholePsPerByte{1}; //!< as psPerByte, for the whole link
        int64_t latencyBack{0};   //!< latency back to the link's sender, ps
        ClassArbiter::State turn;
        double loss{0}; //!< see SetLoss
        uint32_t opposite{END};
        uint32_t controlRun{0}; //!< consecutive control packets sent while data waits
        int64_t ownLead{0};     //!< bytes of its device sent beyond its round-robin share
    };

    /** Counters updated by each transmission, see PortCounters. */
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
        uint32_t marks{0}; //!< marks not yet added to m_counters
        int64_t bytes{0};
        int64_t maxBytes{0}; //!< maximum since the start of the run
    };

    /** Time per byte on the wire of a link with payload rate @p rate, ps. */
    double PsPerByte(uint32_t link, Rate rate) const
    {
        return 1e12 / (rate.ToBytesPerSecond() / PayloadFraction(m_topology.GetLink(LinkId(link))));
    }

    Queue& QueueOf(uint32_t link, unsigned trafficClass)
    {
        return m_queues[link * m_classes + trafficClass];
    }

    IngressAccount& AccountOf(uint32_t link, unsigned trafficClass)
    {
        return m_accounts[std::size_t{link} * (m_classes - 1) + trafficClass - 1];
    }

    /**
     * Whether a packet may be lost by SetLoss. Pauses that are not renewed are exempt: if their
     * resume frame were lost, they would last forever.
     */
    bool CanBeLost(const Packet& packet) const
    {
        return packet.kind != PacketKind::Pause || !m_spec.switches.pauseTime.IsInfinite();
    }

    /**
     * How packets of a class that arrived by a link are admitted; under PFC, classes beyond the
     * lossless ones are lossy.
     */
    Admission AdmissionOf(const Port& ingress, unsigned trafficClass) const
    {
        return ingress.admission == Admission::Pfc && trafficClass > m_losslessClasses
                   ? Admission::Lossy
                   : ingress.admission;
    }

    PacketEndpoints& EndsOf(const Packet& packet) const
    {
        return packet.kind == PacketKind::Datagram ? *m_datagrams : m_ends;
    }

    /** A link event that is due soon. */
    struct Upcoming
    {
        uint32_t link;
        bool isArrival;                //!< else PortReady
        uint32_t packet{Packet::NONE}; //!< packet that arrives or leaves
    };

    uint32_t FirstQueued(uint32_t link) const;
    uint64_t CountIn(const PacketList& list) const;
    void Enqueue(uint32_t packet, uint32_t link, int64_t now);
    bool Admit(uint32_t packet, uint32_t link, int64_t now);
    bool IsFull(uint32_t link, const Packet& packet, uint32_t freed);
    bool TrimTail(uint32_t packet, uint32_t link, int64_t now);
    bool TrimOrDrop(uint32_t packet, uint32_t link, int64_t now);
    bool HasControlRoom(uint32_t packet, uint32_t link) const;
    bool MustServeData(uint32_t link) const;
    double Draw(uint32_t link);
    void Drop(uint32_t packet, uint32_t link, int64_t now);
    void Push(uint32_t packet, uint32_t link);
    void Insert(uint32_t packet, uint32_t link, uint32_t before);
    void Take(uint32_t packet, uint32_t link);
    void TransmitNext(uint32_t link, int64_t now);
    bool TransmitData(uint32_t link, int64_t now);
    uint32_t PassingWrite(uint32_t link, unsigned trafficClass, int64_t now);
    uint32_t TransmitOf(uint32_t link, unsigned trafficClass, int64_t now);
    uint32_t OwnPacket(uint32_t link, unsigned trafficClass, int64_t now);
    std::size_t ForwardedOwners(uint32_t link, unsigned trafficClass);
    void ForgetForwarded(const Packet& packet, uint32_t link);

    /** Source of the packets of a class. */
    PacketEndpoints& EndsFor(unsigned trafficClass) const
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

    /** Whether a network link follows on the path of a packet. */
    bool IsToNetwork(uint32_t hop) const
    {
        return m_isToNetwork[hop] != 0;
    }

    /** Whether a network adapter reads a packet's payload over a link, which takes a read tag. */
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

    /** Bytes that a packet takes in a switch's buffer, in whole cells. */
    int64_t RoomOf(uint32_t size) const
    {
        return m_cell == 1 ? size : (size + m_cell - 1) / m_cell * m_cell;
    }

    /** Latency of a link plus that of its opposite link, ps. */
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
    void Lose(uint32_t packet, uint32_t link, bool isOnWire, int64_t now);
    template <typename... Parameters, typename... Facts>
    void Tell(uint32_t link,
              void (PortObserver::*event)(LinkId, Parameters...),
              const Facts&... facts);
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
    PacketEndpoints& m_ends;
    PacketEndpoints* m_datagrams{nullptr};
    unsigned m_classes;
    unsigned m_losslessClasses;
    ClassArbiter m_arbiter;
    uint8_t m_datagramClasses{0};             //!< bit by class
    int64_t m_cell;                           //!< bytes
    int64_t m_controlRoom;                    //!< bytes, see SwitchSpec::controlQueue
    uint32_t m_controlRun;                    //!< see SwitchSpec::controlRun; 0: unlimited
    bool m_boundsTlpHeaders;                  //!< whether PCIe links have header credits
    AlignedVector<Port> m_ports;              //!< by link
    AlignedVector<Queue> m_queues;            //!< by link and class
    AlignedVector<Sent> m_sent;               //!< by link
    std::size_t m_usedPorts{0};               //!< ports that have sent a packet
    AlignedVector<IngressAccount> m_accounts; //!< by ingress link and data class
    std::vector<PortDetails> m_details;       //!< by link
    std::vector<PortCounters> m_counters;     //!< by link; without the counters in m_sent and
                                              //!< m_queues
    std::vector<int64_t> m_lossyRoom;         //!< by link and class: buffer bytes of lossy queues,
                                              //!< if cells are larger than a byte
    std::vector<int64_t> m_pausedUntil;       //!< by link and class, ps
    std::vector<int64_t> m_pausedSince;       //!< by link, ps
    std::vector<LinkCredits> m_credits;       //!< by link and class, for links with credits; on
                                              //!< PCIe links of headers and data by kind
    std::vector<LinkCredits> m_reads;         //!< by PCIe link: bytes that read tags allow; empty
                                              //!< without tags
    std::vector<uint32_t> m_creditIndex;      //!< by link: index into m_credits
    std::vector<SharedBuffer> m_buffers;      //!< by device
    std::unordered_map<std::size_t, std::unordered_map<uint32_t, uint32_t>>
        m_forwarded;               //!< by queue of a source port: queued packets by owner
    std::vector<uint64_t> m_draws; //!< by link: state of its random number generator
    std::vector<std::vector<PortObserver*>> m_observers; //!< by link; empty without observers
    std::vector<uint32_t> m_hops;       //!< all paths, concatenated, each ending with END
    std::vector<uint8_t> m_isToNetwork; //!< by index in m_hops: whether a network link follows
    std::vector<uint8_t> m_raises; //!< by index in m_hops: classes by which a packet rises there;
                                   //!< empty unless classes rise by hop
    std::vector<Upcoming> m_soon;  //!< see Prefetch
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_NETWORK_H
