// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_TRAFFIC_H
#define WEIR_COLLECTIVES_ALGORITHMS_TRAFFIC_H

#include "collectives/collective.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Who gives how much to whom: the parts of an all-to-all that are not all equal. */
class Traffic
{
  public:
    /**
     * @param parts one row per sender, in it the bytes for each receiver, itself included (what a
     *        rank keeps is copied, not sent).
     * @throws std::invalid_argument unless it is a square of sizes of which none is negative and
     *         no row holds more than 2^58 bytes.
     */
    explicit Traffic(const std::vector<std::vector<Bytes>>& parts);

    uint32_t Ranks() const
    {
        return m_ranks;
    }

    Bytes Part(uint32_t from, uint32_t to) const
    {
        return m_parts[std::size_t{from} * m_ranks + to];
    }

    /** What the rank that gives most gives, its own part included: the size of such a call. */
    Bytes LargestRow() const
    {
        return m_largestRow;
    }

    friend bool operator==(const Traffic& a, const Traffic& b)
    {
        return a.m_parts == b.m_parts;
    }

  private:
    uint32_t m_ranks;
    std::vector<Bytes> m_parts; //!< row by row
    Bytes m_largestRow;
};

/** What one rank gives another; never empty. */
struct Message
{
    uint32_t from{0}; //!< group ranks
    uint32_t to{0};
    Bytes bytes;
};

/**
 * The messages of a grouped send and receive: @p op over @p ranks ranks of @p bytes, as
 * CollectiveCall counts them. Parts are the n-th of the bytes, rounded up. In all-to-all, gather
 * and scatter a rank's own part is a message to itself. O(messages).
 * @param traffic for an all-to-all of unequal parts, or null.
 */
std::vector<Message> MessagesOf(
    CollectiveOp op, uint32_t ranks, Bytes bytes, uint32_t root, const Traffic* traffic);

/** Whether @p op is made of messages between pairs only. */
bool IsPointToPoint(CollectiveOp op);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_TRAFFIC_H
