// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_MESSAGE_QUEUE_H
#define WEIR_FABRIC_TRANSPORT_PACKET_MESSAGE_QUEUE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Messages of a queue pair, one behind the other, cut into numbered packets: all of a message are
 * full but the last one. One of no bytes is one packet without payload.
 */
class MessageQueue
{
  public:
    struct Message
    {
        uint64_t first; //!< number of its first packet
        uint64_t end;   //!< behind its last one
        int64_t bytes;
        uint32_t name; //!< of whoever posted it
        uint32_t mtu;  //!< payload bytes of a full packet
    };

    /** Adds a message behind all others, in packets of @p mtu. */
    void Post(uint32_t name, int64_t bytes, uint32_t mtu)
    {
        const auto packets = static_cast<uint64_t>(std::max<int64_t>(1, (bytes + mtu - 1) / mtu));
        m_messages.push_back({m_end, m_end + packets, bytes, name, mtu});
        m_end += packets;
    }

    /** Behind the last packet of all. */
    uint64_t End() const
    {
        return m_end;
    }

    bool IsEmpty() const
    {
        return m_first == m_messages.size();
    }

    const Message& Front() const
    {
        return m_messages[m_first];
    }

    /** The first one that the receiver does not have whole yet; null when it has all. */
    const Message* FirstUndelivered() const
    {
        return m_undelivered < m_messages.size() ? &m_messages[m_undelivered] : nullptr;
    }

    void SetDelivered()
    {
        m_undelivered++;
    }

    /** Lets go of the front, which is delivered. */
    void Pop()
    {
        m_first++;
        if (m_first == m_messages.size())
        {
            m_messages.clear();
            m_undelivered = 0;
            m_sending = 0;
            m_first = 0;
        }
        else if (m_first >= 32 && m_first * 2 >= m_messages.size())
        {
            m_messages.erase(m_messages.begin(),
                             m_messages.begin() + static_cast<std::ptrdiff_t>(m_first));
            m_undelivered -= m_first;
            m_sending -= std::min(m_sending, m_first);
            m_first = 0;
        }
    }

    bool IsFrontDelivered() const
    {
        return m_first < m_undelivered;
    }

    /** The message of a packet that is not popped. O(1) for packets in order. */
    const Message& Of(uint64_t number)
    {
        m_sending = std::clamp(m_sending, m_first, m_messages.size() - 1);
        while (m_messages[m_sending].end <= number)
        {
            m_sending++;
        }
        while (m_messages[m_sending].first > number)
        {
            m_sending--;
        }
        return m_messages[m_sending];
    }

    /** Payload bytes of a packet that is not popped. */
    uint32_t PayloadOf(uint64_t number)
    {
        const Message& message = Of(number);
        const auto before = static_cast<int64_t>(number - message.first) * message.mtu;
        return static_cast<uint32_t>(std::min<int64_t>(message.mtu, message.bytes - before));
    }

    /** Payload bytes of the packets from @p first to before @p end, none of them popped. */
    int64_t PayloadBetween(uint64_t first, uint64_t end)
    {
        int64_t bytes = 0;
        while (first < end)
        {
            const Message& message = Of(first);
            const uint64_t last = std::min(end, message.end);
            const auto from = static_cast<int64_t>(first - message.first) * message.mtu;
            const auto to = static_cast<int64_t>(last - message.first) * message.mtu;
            bytes += std::min(to, message.bytes) - from;
            first = last;
        }
        return bytes;
    }

    /** Cuts the packets from @p unsent on off the message of that name. @return whether any. */
    bool Cut(uint32_t name, uint64_t unsent)
    {
        for (std::size_t i = m_first; i < m_messages.size(); i++)
        {
            Message& message = m_messages[i];
            if (message.name != name || message.end <= unsent)
            {
                continue;
            }
            // A message keeps one packet at least: numbers stay those of whoever holds them.
            const uint64_t end = std::max({message.first + 1, unsent});
            const uint64_t cut = message.end - end;
            message.bytes = std::min<int64_t>(
                message.bytes, static_cast<int64_t>(end - message.first) * message.mtu);
            message.end = end;
            for (std::size_t k = i + 1; k < m_messages.size(); k++)
            {
                m_messages[k].first -= cut;
                m_messages[k].end -= cut;
            }
            m_end -= cut;
            return cut > 0;
        }
        return false;
    }

  private:
    std::vector<Message> m_messages;
    std::size_t m_first{0};       //!< that is not popped
    std::size_t m_undelivered{0}; //!< the first such
    std::size_t m_sending{0};     //!< where Of looked last
    uint64_t m_end{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_MESSAGE_QUEUE_H
