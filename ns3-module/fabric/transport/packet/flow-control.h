// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_FLOW_CONTROL_H
#define WEIR_FABRIC_TRANSPORT_PACKET_FLOW_CONTROL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * Link-level flow control: the packet buffer of a switch, by which it pauses its senders (PFC), and
 * credits, by which a sender knows the free buffer of its receiver.
 */
namespace weir
{

/** Buffer bytes of a switch used by packets of one ingress link and traffic class. */
struct alignas(32) IngressAccount
{
    int64_t bytes{0};    //!< total
    int64_t headroom{0}; //!< part of bytes in the headroom
    double alpha{0};     //!< dynamic-threshold factor
    int64_t headroomSize{0};
};

/**
 * The packet buffer of a switch. It has a reserve for each ingress link and class, headroom for
 * packets that arrive after a pause was requested, and a shared rest. The rest is managed by
 * dynamic thresholds (Choudhury and Hahne, IEEE/ACM Trans. Networking 1998): one account may use up
 * to alpha times the free part of the shared buffer. With n busy accounts and a shared size S, each
 * settles at alpha S / (1 + n alpha).
 *
 * All calls are O(1). Sizes are bytes.
 */
class SharedBuffer
{
  public:
    SharedBuffer() = default;

    /**
     * @param shared bytes left after all reserves and headrooms
     * @param reserve bytes reserved for each account
     */
    SharedBuffer(int64_t shared, int64_t reserve)
        : m_shared(shared),
          m_reserve(reserve)
    {
    }

    /** The threshold of an account in the shared part, if @p freed bytes fewer were in use. */
    double Threshold(double alpha, int64_t freed = 0) const
    {
        return alpha * static_cast<double>(std::max<int64_t>(0, m_shared - m_used + freed));
    }

    /** Bytes that an account uses in the shared part. */
    int64_t SharedOf(const IngressAccount& account) const
    {
        return std::max<int64_t>(0, account.bytes - account.headroom - m_reserve);
    }

    /**
     * Allocates @p size bytes. They come from the headroom if the sender has been paused and the
     * account is at its threshold. The packet that triggers the pause is in the shared part.
     * @param isPausing whether the sender has been paused
     * @return false if there is no room
     */
    bool Take(IngressAccount& account, int64_t size, bool isPausing)
    {
        const int64_t ordinary = account.bytes - account.headroom + size;
        const auto shared = static_cast<double>(SharedOf(account));
        if (ordinary > m_reserve)
        {
            if (isPausing && shared >= Threshold(account.alpha))
            {
                if (account.headroom + size > account.headroomSize)
                {
                    return false;
                }
                account.headroom += size;
                account.bytes += size;
                return true;
            }
            m_used += std::min(size, ordinary - m_reserve);
        }
        account.bytes += size;
        return true;
    }

    /** Frees @p size bytes, those of the headroom first. */
    void Give(IngressAccount& account, int64_t size)
    {
        const int64_t ofHeadroom = std::min(account.headroom, size);
        const int64_t shared = SharedOf(account);
        account.headroom -= ofHeadroom;
        account.bytes -= size;
        m_used -= shared - SharedOf(account);
    }

    /** Whether the sender must be paused. */
    bool MustPause(const IngressAccount& account) const
    {
        return account.headroom > 0 ||
               (account.headroomSize > 0 &&
                static_cast<double>(SharedOf(account)) >= Threshold(account.alpha));
    }

    /**
     * Whether a paused sender may resume.
     * @param offset bytes below the threshold at which it resumes
     */
    bool MayResume(const IngressAccount& account, int64_t offset) const
    {
        const int64_t shared = SharedOf(account);
        return account.headroom == 0 &&
               (shared == 0 || static_cast<double>(shared + offset) <= Threshold(account.alpha));
    }

    /** Allocates shared bytes for a lossy queue; frees them if @p size is negative. */
    void TakeShared(int64_t size)
    {
        m_used += size;
    }

  private:
    int64_t m_shared{0};
    int64_t m_reserve{0};
    int64_t m_used{0};
};

/**
 * Credits of a sender for the receive buffer at the other end of its link, for one virtual lane.
 *
 * A packet takes whole units. When it leaves the receiving device, its units return after a delay
 * that is the same for all. Returns need no events: a sender without credits asks when it will have
 * enough.
 */
class LinkCredits
{
  public:
    static constexpr int64_t UNKNOWN = -1;

    LinkCredits() = default;

    /** @param units capacity of the receive buffer */
    explicit LinkCredits(int64_t units)
        : m_units(units)
    {
    }

    /** Units available at @p now (ps). */
    int64_t Units(int64_t now)
    {
        while (m_count > 0 && m_returns[m_first].time <= now)
        {
            m_units += m_returns[m_first].units;
            m_first = RingIndex(1);
            m_count--;
        }
        return m_units;
    }

    void Take(int64_t units)
    {
        m_units -= units;
    }

    /** Returns units at @p time (ps), or combined with the previous return if that is later. */
    void Return(int64_t units, int64_t time)
    {
        if (m_count > 0 && m_returns[RingIndex(m_count - 1)].time >= time)
        {
            m_returns[RingIndex(m_count - 1)].units += units;
            return;
        }
        if (m_count == m_returns.size())
        {
            Grow();
        }
        m_returns[RingIndex(m_count++)] = {time, units};
    }

    /**
     * Time at which @p units will be available from known returns, ps; UNKNOWN if these do not
     * suffice.
     */
    int64_t TimeOf(int64_t units) const
    {
        int64_t sum = m_units;
        for (std::size_t i = 0; i < m_count; i++)
        {
            const Returned& returned = m_returns[RingIndex(i)];
            sum += returned.units;
            if (sum >= units)
            {
                return returned.time;
            }
        }
        return UNKNOWN;
    }

  private:
    struct Returned
    {
        int64_t time; //!< picoseconds
        int64_t units;
    };

    /** Ring index of pending return number @p after. */
    std::size_t RingIndex(std::size_t after) const
    {
        return (m_first + after) & (m_returns.size() - 1);
    }

    void Grow()
    {
        constexpr std::size_t MIN_SIZE = 8;
        std::vector<Returned> larger(std::max(MIN_SIZE, 2 * m_returns.size()));
        for (std::size_t i = 0; i < m_count; i++)
        {
            larger[i] = m_returns[RingIndex(i)];
        }
        m_returns.swap(larger);
        m_first = 0;
    }

    std::vector<Returned> m_returns; //!< pending returns by time, in a ring whose size is a power
                                     //!< of two
    std::size_t m_first{0};          //!< index of the first pending return
    std::size_t m_count{0};          //!< number of pending returns
    int64_t m_units{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_FLOW_CONTROL_H
