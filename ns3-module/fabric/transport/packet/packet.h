// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H

#include "fabric/transport/packet/huge-page-allocator.h"

#include <array>
#include <cstdint>
#include <vector>

namespace weir
{

/** What a packet is. */
enum class PacketKind : uint8_t
{
    Data,
    Datagram, //!< a packet of somebody else, whose bytes mean nothing to the fabric
    Trimmed,  //!< the header of a data packet whose payload a switch has cut off
    Ack,
    Nack,    //!< asks for a sequence number again
    Request, //!< asks the receiver for credit
    Credit,  //!< lets the sender send as many bytes as its number says
    Cnp,     //!< congestion notification of DCQCN
    Pause    //!< PFC; ends at the next device
};

/** A packet under way: one cache line; what it carries for real is not kept. */
struct alignas(64) Packet
{
    static constexpr uint32_t NONE = 0xffffffff;

    static constexpr uint8_t MARKED = 1;          //!< flag: ECN; on ACKs, its echo
    static constexpr uint8_t LAST = 2;            //!< flag: of its message
    static constexpr uint8_t RESUME = 4;          //!< flag of a Pause: go on
    static constexpr uint8_t NOT_ECN_CAPABLE = 8; //!< flag of a Datagram: it is not marked
    static constexpr uint8_t ASKS = 16;           //!< flag: wants its acknowledgment at once
    static constexpr uint8_t SATED = 32;      //!< flag: its sender has credit that it cannot use
    static constexpr uint8_t READ = 64;       //!< flag: a network adapter has asked for it by a tag
    static constexpr uint8_t TELEMETRY = 128; //!< flag: the pool has telemetry of it

    int64_t time{0};    //!< picoseconds: when it is whole at the end of the wire
    int64_t stamp{0};   //!< when it was sent; on ACKs, when what they acknowledge was
    uint64_t number{0}; //!< sequence number; on ACKs, the next one expected; or a handle

    union {
        int64_t nextTime{0}; //!< on a wire: when the one behind it is due, ps
        uint32_t previous;   //!< in a queue: the one before it, unless it is the first
    };

    uint32_t nextLink{NONE}; //!< on a wire: where it goes on; of a lost one: where that was
    uint32_t owner{0};       //!< queue pair; of a Pause its traffic class, of a Datagram its route
    uint32_t hop{0};         //!< into PacketNetwork's hops: the link it takes next
    uint32_t ingress{NONE};  //!< link by which it came into the device where it is
    uint32_t size{0};        //!< bytes on the wire, headers included
    uint32_t payload{0};     //!< bytes
    uint32_t next{NONE};     //!< the one behind it in its queue or on its wire
    PacketKind kind{PacketKind::Data};
    uint8_t trafficClass{0};
    uint8_t ingressClass{0}; //!< the one in which it came, see SwitchSpec::classByHop
    uint8_t flags{0};
};

static_assert(sizeof(Packet) == 64, "packets fill one cache line");

/** What switches write into a packet: in-band network telemetry. */
struct Telemetry
{
    static constexpr unsigned MAX_HOPS = 16;

    /** A port when the packet left it. */
    struct Hop
    {
        int64_t time{0};        //!< picoseconds
        double rate{0};         //!< bytes/s
        uint64_t sentBytes{0};  //!< since the beginning
        uint32_t queueBytes{0}; //!< behind the packet
        uint32_t link{0};
    };

    std::array<Hop, MAX_HOPS> hops;
    uint32_t count{0};
};

/** What packets carry besides where acknowledgments tell of paths, or of packets out of order. */
struct PacketNotes
{
    uint64_t came{1}; //!< of an acknowledgment: bit i, the packet i before the last it tells of is
                      //!< there
    uint32_t path{0}; //!< index of the one that it takes; that took what this one answers
};

/** All packets of a run by handle; a free one is used again, the last one freed first. */
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
        if (HasTelemetry(packet))
        {
            m_freeTelemetry.push_back(m_telemetryOf[packet]);
        }
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

    bool HasTelemetry(uint32_t packet) const
    {
        return (m_packets[packet].flags & Packet::TELEMETRY) != 0;
    }

    /** Gives a packet that has none telemetry, empty. */
    void AddTelemetry(uint32_t packet)
    {
        if (m_freeTelemetry.empty())
        {
            m_freeTelemetry.push_back(static_cast<uint32_t>(m_telemetry.size()));
            m_telemetry.emplace_back();
        }
        SetTelemetry(packet, m_freeTelemetry.back());
        m_freeTelemetry.pop_back();
        GetTelemetry(packet).count = 0;
    }

    /** Gives the telemetry of a packet to one that has none. */
    void MoveTelemetry(uint32_t from, uint32_t to)
    {
        SetTelemetry(to, m_telemetryOf[from]);
        m_packets[from].flags &= static_cast<uint8_t>(~Packet::TELEMETRY);
    }

    /** Of a packet that has some. */
    Telemetry& GetTelemetry(uint32_t packet)
    {
        return m_telemetry[m_telemetryOf[packet]];
    }

    /** Those of a packet; left as they were until somebody sets them. */
    PacketNotes& NotesOf(uint32_t packet)
    {
        if (m_notes.size() < m_packets.size())
        {
            m_notes.resize(m_packets.capacity());
        }
        return m_notes[packet];
    }

    /** Packets under way now. */
    uint64_t InUse() const
    {
        return m_inUse;
    }

    /** Most packets under way at once. */
    std::size_t Most() const
    {
        return m_packets.size();
    }

  private:
    void SetTelemetry(uint32_t packet, uint32_t place)
    {
        if (m_telemetryOf.size() < m_packets.size())
        {
            m_telemetryOf.resize(m_packets.capacity());
        }
        m_telemetryOf[packet] = place;
        m_packets[packet].flags |= Packet::TELEMETRY;
    }

    AlignedVector<Packet> m_packets;
    AlignedVector<Telemetry> m_telemetry;
    std::vector<uint32_t> m_telemetryOf; //!< by packet: into m_telemetry
    std::vector<uint32_t> m_freeTelemetry;
    std::vector<PacketNotes> m_notes; //!< by packet; empty until somebody asks
    uint32_t m_free{Packet::NONE};
    uint64_t m_inUse{0};
};

/**
 * Packets one behind the other, linked in the pool: a list needs no memory of its own, and its ends
 * are at the packets that are looked at next.
 */
class PacketList
{
  public:
    bool IsEmpty() const
    {
        return m_first == Packet::NONE;
    }

    /** The oldest one; Packet::NONE: there is none. */
    uint32_t First() const
    {
        return m_first;
    }

    /** The newest one; Packet::NONE: there is none. */
    uint32_t Last() const
    {
        return m_last;
    }

    void Push(PacketPool& packets, uint32_t packet)
    {
        packets[packet].next = Packet::NONE;
        packets[packet].previous = m_last;
        (IsEmpty() ? m_first : packets[m_last].next) = packet;
        m_last = packet;
    }

    /** Puts a packet behind @p before; Packet::NONE: before all. */
    void Insert(PacketPool& packets, uint32_t before, uint32_t packet)
    {
        uint32_t& link = before == Packet::NONE ? m_first : packets[before].next;
        packets[packet].next = link;
        packets[packet].previous = before;
        (link == Packet::NONE ? m_last : packets[link].previous) = packet;
        link = packet;
    }

    /** Takes out the oldest one; there must be one. */
    uint32_t Pop(const PacketPool& packets)
    {
        const uint32_t packet = m_first;
        m_first = packets[packet].next;
        m_last = IsEmpty() ? Packet::NONE : m_last;
        return packet;
    }

    /** Takes out the newest one; there must be one. */
    uint32_t PopLast(PacketPool& packets)
    {
        const uint32_t packet = m_last;
        if (packet == m_first)
        {
            m_first = m_last = Packet::NONE;
            return packet;
        }
        m_last = packets[packet].previous;
        packets[m_last].next = Packet::NONE;
        return packet;
    }

  private:
    uint32_t m_first{Packet::NONE};
    uint32_t m_last{Packet::NONE};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H
