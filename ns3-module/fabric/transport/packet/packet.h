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
    static constexpr uint8_t SATED = 32; //!< flag: its sender has credit that it cannot use
    static constexpr uint8_t READ = 64;  //!< flag: a network adapter has asked for it by a tag

    int64_t time{0};          //!< picoseconds: when it is whole at the end of the wire
    int64_t stamp{0};         //!< when it was sent; on ACKs, when what they acknowledge was
    uint64_t number{0};       //!< sequence number; on ACKs, the next one expected; or a handle
    uint32_t nextLink{NONE};  //!< on a wire: where it goes on; of a lost one: where that was
    uint32_t owner{0};        //!< queue pair; of a Pause its traffic class
    uint32_t hop{0};          //!< into PacketNetwork's hops: the link it takes next
    uint32_t ingress{NONE};   //!< link by which it came into the device where it is
    uint32_t size{0};         //!< bytes on the wire, headers included
    uint32_t telemetry{NONE}; //!< of the pool
    uint32_t payload{0};      //!< bytes
    PacketKind kind{PacketKind::Data};
    uint8_t trafficClass{0};
    uint8_t ingressClass{0}; //!< the one in which it came, see SwitchSpec::classByHop
    uint8_t flags{0};
};

static_assert(sizeof(Packet) == 64, "packets fill one cache line");

/** What switches write into a packet: in-band network telemetry. */
struct Telemetry
{
    static constexpr unsigned MAX_HOPS = 8;

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
    uint32_t nextFree{Packet::NONE};
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
        m_free = m_packets[packet].nextLink;
        m_packets[packet] = Packet();
        return packet;
    }

    void Free(uint32_t packet)
    {
        m_inUse--;
        if (m_packets[packet].telemetry != Packet::NONE)
        {
            FreeTelemetry(m_packets[packet].telemetry);
        }
        m_packets[packet].nextLink = m_free;
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

    uint32_t NewTelemetry()
    {
        if (m_freeTelemetry == Packet::NONE)
        {
            m_telemetry.emplace_back();
            return static_cast<uint32_t>(m_telemetry.size() - 1);
        }
        const uint32_t place = m_freeTelemetry;
        m_freeTelemetry = m_telemetry[place].nextFree;
        m_telemetry[place].count = 0;
        return place;
    }

    void FreeTelemetry(uint32_t place)
    {
        m_telemetry[place].nextFree = m_freeTelemetry;
        m_freeTelemetry = place;
    }

    Telemetry& GetTelemetry(uint32_t place)
    {
        return m_telemetry[place];
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
    AlignedVector<Packet> m_packets;
    AlignedVector<Telemetry> m_telemetry;
    uint32_t m_free{Packet::NONE};
    uint32_t m_freeTelemetry{Packet::NONE};
    uint64_t m_inUse{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_H
