// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_PACKET_LIST_H
#define WEIR_FABRIC_TRANSPORT_PACKET_PACKET_LIST_H

#include "fabric/transport/packet/packet.h"

#include <cstdint>

namespace weir
{

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

#endif // WEIR_FABRIC_TRANSPORT_PACKET_PACKET_LIST_H
