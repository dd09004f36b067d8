// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_PACKET_FLOW_CONTROL_H
#define WEIR_FABRIC_TRANSPORT_PACKET_FLOW_CONTROL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

/**
 * @file
 * Flow control of links: room in a switch's packet buffer, by which it pauses its senders (PFC),
 * and credits, by which a sender knows the receiver's room.
 */
namespace weir
{

/** Bytes in a switch that came by one link in one traffic class. */
struct alignas(32) IngressAccount
{
    int64_t bytes{0};    //!< in all
    int64_t headroom{0}; //!< of these, beyond the threshold
    double alpha{0};     //!< of the threshold
    int64_t headroomSize{0};
};

/**
 * The packet buffer of a switch: a reserve for each ingress link and class, headroom for what comes
 * after a pause was asked for, and the rest shared by dynamic thresholds (Choudhury and Hahne,
 * IEEE/ACM Trans. Networking 1998): one account may use alpha times what is left of the shared
 * part. Of n busy accounts each settles at alpha S / (1 + n alpha).
 *
 * All calls are O(1). Sizes are bytes.
 */
class SharedBuffer
{
  public:
    SharedBuffer() = default;

    /** @param shared what is left after all reserves and headrooms */
    SharedBuffer(int64_t shared, int64_t reserve)
        : m_shared(shared),
          m_reserve(reserve)
    {
    }

    /** The most that an account may use of the shared part, with @p freed bytes fewer in use. */
    double Threshold(double alpha, int64_t freed = 0) const
    {
        return alpha * static_cast<double>(std::max<int64_t>(0, m_shared - m_used + freed));
    }

    /** What an account uses of the shared part. */
    int64_t SharedOf(const IngressAccount& account) const
    {
        return std::max<int64_t>(0, account.bytes - account.headroom - m_reserve);
    }

    /**
     * Takes room for @p size bytes: of the headroom where the sender has been asked to wait and the
     * account is at its threshold; the packet for which it is asked belongs to the shared part.
     * @param isPausing the sender has been asked to wait
     * @return false where there is none.
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

    /** Gives back room for @p size bytes, of the headroom first. */
    void Give(IngressAccount& account, int64_t size)
    {
        const int64_t ofHeadroom = std::min(account.headroom, size);
        const int64_t shared = SharedOf(account);
        account.headroom -= ofHeadroom;
        account.bytes -= size;
        m_used -= shared - SharedOf(account);
    }

    /** Whether the sender must wait. */
    bool MustPause(const IngressAccount& account) const
    {
        return account.headroom > 0 ||
               (account.headroomSize > 0 &&
                static_cast<double>(SharedOf(account)) >= Threshold(account.alpha));
    }

    /** Whether a sender that waits may go on. */
    bool MayResume(const IngressAccount& account, int64_t offset) const
    {
        const int64_t shared = SharedOf(account);
        return account.headroom == 0 &&
               (shared == 0 || static_cast<double>(shared + offset) <= Threshold(account.alpha));
    }

    /** Takes shared room for a queue of a lossy port. */
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
 * What a sender knows of the room that is left at the other end of its link, for one virtual lane.
 *
 * A packet takes whole units; when it leaves the receiving device, the units come back after a
 * delay that is the same for all. They need no events: whoever lacks credits asks when there will
 * be enough.
 */
class LinkCredits
{
  public:
    static constexpr int64_t UNKNOWN = -1;

    LinkCredits() = default;

    /** @param units that the receiver has room for */
    explicit LinkCredits(int64_t units)
        : m_units(units)
    {
    }

    /** What is there at @p now. */
    int64_t Units(int64_t now)
    {
        while (m_count > 0 && m_returns[m_first].time <= now)
        {
            m_units += m_returns[m_first].units;
            m_first = Place(1);
            m_count--;
        }
        return m_units;
    }

    void Take(int64_t units)
    {
        m_units -= units;
    }

    /** Units come back at @p time, or with those before them where these come later. */
    void Return(int64_t units, int64_t time)
    {
        if (m_count > 0 && m_returns[Place(m_count - 1)].time >= time)
        {
            m_returns[Place(m_count - 1)].units += units;
            return;
        }
        if (m_count == m_returns.size())
        {
            Grow();
        }
        m_returns[Place(m_count++)] = {time, units};
    }

    /** When @p units are there, of those that are coming back; UNKNOWN: not yet. */
    int64_t TimeOf(int64_t units) const
    {
        int64_t sum = m_units;
        for (std::size_t i = 0; i < m_count; i++)
        {
            const Returned& returned = m_returns[Place(i)];
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

    /** Of the one @p after the first that is not yet back. */
    std::size_t Place(std::size_t after) const
    {
        return (m_first + after) & (m_returns.size() - 1);
    }

    void Grow()
    {
        constexpr std::size_t LEAST = 8;
        std::vector<Returned> larger(std::max(LEAST, 2 * m_returns.size()));
        for (std::size_t i = 0; i < m_count; i++)
        {
            larger[i] = m_returns[Place(i)];
        }
        m_returns.swap(larger);
        m_first = 0;
    }

    std::vector<Returned> m_returns; //!< a ring of a power of two, by time
    std::size_t m_first{0};          //!< of m_returns that is not yet back
    std::size_t m_count{0};          //!< that are not
    int64_t m_units{0};
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_PACKET_FLOW_CONTROL_H
