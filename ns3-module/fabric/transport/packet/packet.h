// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H

#include "fabric/transport/packet/huge-page-allocator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/** Type of a packet. */
enum class PacketKind : uint8_t
{
    Data,
    Datagram, //!< a packet of another client, whose content the fabric ignores
    Trimmed,  //!< header of a data packet whose payload a switch has cut off
    Ack,
    Nack,    //!< requests the retransmission of a sequence number
    Request, //!< requests credit from the receiver
    Credit,  //!< grants the sender `number` bytes
    Cnp,     //!< congestion notification packet of DCQCN
    Pause    //!< PFC frame; ends at the next device
};

/** A packet in flight, in one cache line. Its payload is not stored. */
struct alignas(64) Packet
{
    static constexpr uint32_t NONE = 0xffffffff;

    static constexpr uint8_t MARKED = 1;          //!< flag: ECN; on ACKs, its echo
    static constexpr uint8_t LAST = 2;            //!< flag: last packet of its message
    static constexpr uint8_t RESUME = 4;          //!< flag of a Pause: resume
    static constexpr uint8_t NOT_ECN_CAPABLE = 8; //!< flag of a Datagram: must not be marked
    static constexpr uint8_t ASKS = 16;           //!< flag: requests an immediate acknowledgment
    static constexpr uint8_t SATED = 32;          //!< flag: its sender has more credit than it uses
    static constexpr uint8_t READ = 64;           //!< flag: holds a read tag of a network adapter
    static constexpr uint8_t TELEMETRY = 128;     //!< flag: has telemetry in the pool

    int64_t time{0};    //!< ps: when it has arrived completely at the end of the wire
    int64_t stamp{0};   //!< ps: send time; on ACKs, that of the acknowledged packet
    uint64_t number{0}; //!< sequence number; on ACKs, the next one expected; or a client's handle

    union {
        int64_t nextTime{0}; //!< on a wire: ps when the packet behind it is due
        uint32_t previous;   //!< in a queue: the packet before it, if any
    };

    uint32_t nextLink{NONE}; //!< on a wire: its next link; of a lost packet: the link where it was
                             //!< lost
    uint32_t owner{0};       //!< queue pair; of a Pause the traffic class, of a Datagram the route
    uint32_t hop{0};         //!< index of its next link in PacketNetwork's hops
    uint32_t ingress{NONE};  //!< link by which it entered the current device
    uint32_t size{0};        //!< bytes on the wire, headers included
    uint32_t payload{0};     //!< bytes
    uint32_t next{NONE};     //!< packet behind it in its queue or on its wire
    PacketKind kind{PacketKind::Data};
    uint8_t trafficClass{0};
    uint8_t ingressClass{0}; //!< class in which it arrived, see SwitchSpec::classByHop
    uint8_t flags{0};
};

static_assert(sizeof(Packet) == 64, "packets fill one cache line");

/** In-band network telemetry that switches write into a packet. */
struct Telemetry
{
    static constexpr unsigned MAX_HOPS = 16;

    /** State of a port when the packet left it. */
    struct Hop
    {
        int64_t time{0};        //!< picoseconds
        double rate{0};         //!< bytes/s
        uint64_t sentBytes{0};  //!< bytes sent since the start of the run
        uint32_t queueBytes{0}; //!< bytes queued behind the packet
        uint32_t link{0};
    };

    /** A value of a hop, and the time for which it was measured. */
    struct HopValue
    {
        double value{0};
        double seconds{0};
    };

    /**
     * The highest value of the hops since the telemetry @p earlier, where @p valueOf(hop, last,
     * seconds) is that of a hop whose state @p seconds ago was @p last. Zero if none is positive.
     */
    template <typename ValueOf>
    HopValue MaxSince(const Telemetry& earlier, const ValueOf& valueOf) const
    {
        HopValue highest;
        for (uint32_t i = 0; i < std::min(count, earlier.count); i++)
        {
            const Hop& last = earlier.hops[i];
            const double seconds = static_cast<double>(hops[i].time - last.time) * 1e-12;
            if (hops[i].link == last.link && seconds > 0)
            {
                const double value = valueOf(hops[i], last, seconds);
                highest = value > highest.value ? HopValue{value, seconds} : highest;
            }
        }
        return highest;
    }

    std::array<Hop, MAX_HOPS> hops;
    uint32_t count{0};
};

/** Optional fields of packets, used if acknowledgments report paths or packets out of order. */
struct PacketNotes
{
    uint64_t came{1}; //!< of an acknowledgment: bit i is set if the packet i before the highest
                      //!< reported one was received
    uint32_t path{0}; //!< path index of the packet, or of the packet that it acknowledges
};

/** All packets of a run, by handle. Handles of freed packets are reused, last freed first. */
class PacketPool
{
  public:
    uint32_t New()
    {
        m_inUse++;
        if (m_free == Packet::NONE)
        {
            m_packets.emplace_back();
            return static_cast<uint32_t>(m_packets.size() - 1);
        }
        const uint32_t packet = m_free;
        m_free = m_packets[packet].next;
        m_packets[packet] = Packet();
        return packet;
    }

    void Free(uint32_t packet)
    {
        m_inUse--;
        m_packets[packet].next = m_free;
        m_free = packet;
    }

    Packet& operator[](uint32_t packet)
    {
        return m_packets[packet];
    }

    const Packet& operator[](uint32_t packet) const
    {
        return m_packets[packet];
    }

    /** Attaches empty telemetry to a packet. Ends the validity of references to telemetry. */
    Telemetry& AddTelemetry(uint32_t packet)
    {
        if (packet >= m_telemetry.size())
        {
            m_telemetry.resize(m_packets.size());
        }
        m_packets[packet].flags |= Packet::TELEMETRY;
        m_telemetry[packet].count = 0;
        return m_telemetry[packet];
    }

    /** Telemetry of a packet, which must have some. */
    Telemetry& GetTelemetry(uint32_t packet)
    {
        return m_telemetry[packet];
    }

    /** Notes of a packet; uninitialized (left from the handle's last use) until set. */
    PacketNotes& NotesOf(uint32_t packet)
    {
        if (m_notes.size() < m_packets.size())
        {
            m_notes.resize(m_packets.capacity());
        }
        return m_notes[packet];
    }

    /** Number of packets in flight. */
    uint64_t InUse() const
    {
        return m_inUse;
    }

    /** Maximum number of packets in flight at once. */
    std::size_t Peak() const
    {
        return m_packets.size();
    }

  private:
    AlignedVector<Packet> m_packets;
    AlignedVector<Telemetry> m_telemetry; //!< by packet; empty until first used
    std::vector<PacketNotes> m_notes;     //!< by packet; empty until first used
    uint32_t m_free{Packet::NONE};
    uint64_t m_inUse{0};
};

/**
 * FIFO of packets, linked in the pool. A list needs no memory of its own, and its ends are the
 * packets accessed next.
 */
class PacketList
{
  public:
    bool IsEmpty() const
    {
        return m_first == Packet::NONE;
    }

    /** The oldest packet; Packet::NONE if empty. */
    uint32_t First() const
    {
        return m_first;
    }

    /** The newest packet; Packet::NONE if empty. */
    uint32_t Last() const
    {
        return m_last;
    }

    void Push(PacketPool& packets, uint32_t packet)
    {
        Insert(packets, m_last, packet);
    }

    /** Inserts a packet behind @p before; at the front if that is Packet::NONE. */
    void Insert(PacketPool& packets, uint32_t before, uint32_t packet)
    {
        uint32_t& link = before == Packet::NONE ? m_first : packets[before].next;
        packets[packet].next = link;
        packets[packet].previous = before;
        (link == Packet::NONE ? m_last : packets[link].previous) = packet;
        link = packet;
    }

    /** Removes the oldest packet; the list must not be empty. */
    uint32_t Pop(const PacketPool& packets)
    {
        const uint32_t packet = m_first;
        m_first = packets[packet].next;
        m_last = IsEmpty() ? Packet::NONE : m_last;
        return packet;
    }

    /** Removes a packet of the list. */
    void Remove(PacketPool& packets, uint32_t packet)
    {
        if (packet == m_first)
        {
            Pop(packets);
            return;
        }
        const uint32_t before = packets[packet].previous;
        const uint32_t after = packets[packet].next;
        packets[before].next = after;
        (after == Packet::NONE ? m_last : packets[after].previous) = before;
    }

  private:
    uint32_t m_first{Packet::NONE};
    uint32_t m_last{Packet::NONE};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H
