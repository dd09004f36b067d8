// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIR_STATE_H
#define WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIR_STATE_H

#include "fabric/transport/packet/packet-spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * State at the ends of a queue pair: messages to send, packets received out of order, and the order
 * in which its paths are used.
 */
namespace weir
{

/**
 * FIFO of the messages of a queue pair, split into numbered packets. All packets of a message are
 * full except the last. A message of zero bytes is one packet without payload.
 */
class MessageQueue
{
  public:
    struct Message
    {
        uint64_t first; //!< number of its first packet
        uint64_t end;   //!< number after its last packet
        int64_t bytes;
        uint32_t name; //!< identifier given to Post
        uint32_t mtu;  //!< payload bytes of a full packet
    };

    /** Appends a message, split into packets of @p mtu payload bytes. */
    void Post(uint32_t name, int64_t bytes, uint32_t mtu)
    {
        const uint64_t first = m_end;
        m_end += PacketsOf(bytes, mtu);
        m_messages.push_back({first, m_end, bytes, name, mtu});
    }

    /** The number after the last packet of all messages. */
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

    /** The first message not completely received; null if there is none. */
    const Message* FirstUndelivered() const
    {
        return m_undelivered < m_messages.size() ? &m_messages[m_undelivered] : nullptr;
    }

    void SetDelivered()
    {
        m_undelivered++;
    }

    /** Removes the front message, which has been delivered. */
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

    /** The message of a packet, which must not have been popped. O(1) for packets in order. */
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

    /** Payload bytes of a packet whose message has not been popped. */
    uint32_t PayloadOf(uint64_t number)
    {
        const Message& message = Of(number);
        const auto before = static_cast<int64_t>(number - message.first) * message.mtu;
        return static_cast<uint32_t>(std::min<int64_t>(message.mtu, message.bytes - before));
    }

    /** Payload bytes of the packets in [@p first, @p end), none of them popped. */
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

    /**
     * Payload bytes of message @p name not yet received, where @p expected is the next packet that
     * the receiver expects; zero if it has all.
     */
    int64_t BytesLeft(uint32_t name, uint64_t expected)
    {
        const std::size_t index = FindUndelivered(name);
        if (index == m_messages.size())
        {
            return 0;
        }
        const Message& message = m_messages[index];
        return message.bytes -
               PayloadBetween(message.first, std::clamp(expected, message.first, message.end));
    }

    /**
     * Whether message @p name is not completely received and is the last of those that have been
     * sent at least in part, that is, has the packet before @p unsent.
     */
    bool IsMoving(uint32_t name, uint64_t unsent) const
    {
        const std::size_t index = FindUndelivered(name);
        return index < m_messages.size() && m_messages[index].first < unsent &&
               m_messages[index].end >= unsent;
    }

    /**
     * Whether message @p name has packets that have never been sent, that is, with numbers from @p
     * unsent on.
     */
    bool HasUnsent(uint32_t name, uint64_t unsent) const
    {
        const std::size_t index = FindUndelivered(name);
        return index < m_messages.size() && m_messages[index].end > unsent;
    }

    /**
     * Changes the length of message @p name, which HasUnsent, so that @p left payload bytes are not
     * yet received; bytes already sent remain part of it. The receiver expects packet @p expected
     * next.
     */
    void SetBytesLeft(uint32_t name, uint64_t expected, uint64_t unsent, int64_t left)
    {
        const std::size_t index = FindUndelivered(name);
        Message& message = m_messages[index];
        const uint64_t came = std::clamp(expected, message.first, message.end);
        const uint64_t sent = std::clamp(unsent, message.first, message.end); // all are full
        const auto min = static_cast<int64_t>(sent - message.first) * message.mtu;
        const auto had = static_cast<int64_t>(came - message.first) * message.mtu;
        message.bytes = std::max(min, had + left);
        EndAt(index, message.first + PacketsOf(message.bytes, message.mtu));
    }

    /**
     * Removes the packets from @p unsent on from message @p name.
     * @return the payload bytes removed
     */
    int64_t Cut(uint32_t name, uint64_t unsent)
    {
        for (std::size_t i = m_first; i < m_messages.size(); i++)
        {
            Message& message = m_messages[i];
            if (message.name != name || message.end <= unsent)
            {
                continue;
            }
            // A message keeps at least one packet, so that the numbers held elsewhere stay valid.
            const uint64_t end = std::max({message.first + 1, unsent});
            const int64_t before = message.bytes;
            message.bytes = std::min<int64_t>(
                message.bytes, static_cast<int64_t>(end - message.first) * message.mtu);
            EndAt(i, end);
            return before - message.bytes;
        }
        return 0;
    }

  private:
    static uint64_t PacketsOf(int64_t bytes, uint32_t mtu)
    {
        return static_cast<uint64_t>(std::max<int64_t>(1, (bytes + mtu - 1) / mtu));
    }

    /**
     * Moves the end of the message at @p index to packet @p end, and shifts the messages
     * behind it.
     */
    void EndAt(std::size_t index, uint64_t end)
    {
        const uint64_t more = end - m_messages[index].end; // modulo 2^64 if it shrinks
        m_messages[index].end = end;
        for (std::size_t k = index + 1; k < m_messages.size(); k++)
        {
            m_messages[k].first += more;
            m_messages[k].end += more;
        }
        m_end += more;
    }

    /** Index of message @p name if it is not completely received; else the number of messages. */
    std::size_t FindUndelivered(uint32_t name) const
    {
        std::size_t index = m_undelivered;
        while (index < m_messages.size() && m_messages[index].name != name)
        {
            index++;
        }
        return index;
    }

    std::vector<Message> m_messages;
    std::size_t m_first{0};       //!< first message not popped
    std::size_t m_undelivered{0}; //!< first message not delivered
    std::size_t m_sending{0};     //!< message found last by Of
    uint64_t m_end{0};
};

/** The packets received beyond the first missing one, as a ring of bits. */
class ReceivedSet
{
  public:
    /** Whether packet @p number has been received. */
    bool Has(uint64_t number) const
    {
        return number < m_end && Bit(number);
    }

    /**
     * Adds packet @p number.
     * @param missing the first missing number, which is below @p number
     * @return false if it had been received before
     */
    bool Add(uint64_t number, uint64_t missing)
    {
        if (Has(number))
        {
            return false;
        }
        if (m_count == 0)
        {
            m_end = missing;
        }
        Grow(number + 1 - missing, missing);
        for (; m_end <= number; m_end++)
        {
            Set(m_end, false);
        }
        Set(number, true);
        m_count++;
        return true;
    }

    bool IsEmpty() const
    {
        return m_count == 0;
    }

    /** Packet @p missing has arrived. @return the next missing number */
    uint64_t Advance(uint64_t missing)
    {
        missing++;
        while (m_count > 0 && Has(missing))
        {
            Set(missing, false);
            m_count--;
            missing++;
        }
        return missing;
    }

    /** Forgets the numbers from @p from to before @p missing, the new first missing number. */
    void Forget(uint64_t from, uint64_t missing)
    {
        for (; m_count > 0 && from < missing; from++)
        {
            if (Has(from))
            {
                Set(from, false);
                m_count--;
            }
        }
    }

  private:
    bool Bit(uint64_t number) const
    {
        return !m_words.empty() &&
               (m_words[number / 64 % m_words.size()] >> (number % 64) & 1) != 0;
    }

    void Set(uint64_t number, bool value)
    {
        uint64_t& word = m_words[number / 64 % m_words.size()];
        const uint64_t bit = uint64_t{1} << (number % 64);
        word = value ? word | bit : word & ~bit;
    }

    /** Enlarges the ring to hold @p span numbers from @p missing on. */
    void Grow(uint64_t span, uint64_t missing)
    {
        const std::size_t words = span / 64 + 2;
        if (words <= m_words.size())
        {
            return;
        }
        ReceivedSet larger;
        larger.m_words.assign(words * 2, 0);
        for (uint64_t number = missing; m_count > 0 && number < m_end; number++)
        {
            if (Has(number))
            {
                larger.Set(number, true);
            }
        }
        m_words.swap(larger.m_words);
    }

    std::vector<uint64_t> m_words;
    uint64_t m_end{0};
    uint64_t m_count{0};
};

/**
 * Selects the path of a queue pair's next packet (QueuePairSpec::pathChoice): round robin; first a
 * path that was just acknowledged without a mark (REPS, Bonato et al., 2024); or skipping a path
 * whose packet was marked or trimmed for a number of rounds, its penalty (the bitmap of htsim's
 * uec_mp.cpp, whose penalties these are). A path is its index. Next is O(1) except for skipped
 * paths.
 */
class SprayPathSelector
{
  public:
    static constexpr unsigned MARKED = 1;       //!< rounds for which a path is skipped after a mark
    static constexpr unsigned TRIMMED = 4;      //!< rounds after a trimmed packet
    static constexpr unsigned MAX_PENALTY = 15; //!< largest accumulated penalty

    /** The path of the next packet, out of @p count. */
    uint32_t Next(PathChoice choice, uint32_t count)
    {
        if (Recycles(choice) && m_nextGood < m_good.size())
        {
            return m_good[m_nextGood++];
        }
        for (;;)
        {
            const uint32_t path = m_turn;
            m_turn = path + 1 == count ? 0 : path + 1;
            if (m_penalties.empty() || m_penalties[path] == 0)
            {
                return path;
            }
            m_penalties[path]--;
        }
    }

    /**
     * A packet on @p path, out of @p count, was acknowledged.
     * @param penalty MARKED, TRIMMED, or 0 if neither
     */
    void OnAnswer(PathChoice choice, uint32_t path, uint32_t count, unsigned penalty)
    {
        if (path >= count)
        {
            return; // the paths have changed since
        }
        if (penalty > 0 && Avoids(choice))
        {
            m_penalties.resize(count, 0);
            const unsigned sum = m_penalties[path] + penalty;
            m_penalties[path] = static_cast<uint8_t>(std::min(MAX_PENALTY, sum));
        }
        if (penalty == 0 && Recycles(choice))
        {
            if (m_nextGood == m_good.size())
            {
                m_good.clear();
                m_nextGood = 0;
            }
            else if (m_nextGood >= 64 && m_nextGood * 2 >= m_good.size())
            {
                m_good.erase(m_good.begin(),
                             m_good.begin() + static_cast<std::ptrdiff_t>(m_nextGood));
                m_nextGood = 0;
            }
            m_good.push_back(path);
        }
    }

  private:
    static bool Avoids(PathChoice choice)
    {
        return choice == PathChoice::Avoid || choice == PathChoice::Mixed;
    }

    static bool Recycles(PathChoice choice)
    {
        return choice == PathChoice::Recycle || choice == PathChoice::Mixed;
    }

    uint32_t m_turn{0};
    std::vector<uint8_t> m_penalties; //!< by path: rounds still to be skipped; empty: none
    std::vector<uint32_t> m_good;     //!< paths acknowledged without a mark, the oldest first
    std::size_t m_nextGood{0};        //!< index into m_good of the next to use
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_QUEUE_PAIR_STATE_H
