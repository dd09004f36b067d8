// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_TRAFFIC_H
#define WEIR_COLLECTIVES_ALGORITHMS_TRAFFIC_H

#include "collectives/collective.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** The traffic matrix of an all-to-all with unequal parts. */
class Traffic
{
  public:
    /**
     * @param parts one matrix row per sender, with the bytes for each receiver, itself included
     *        (what a rank keeps is copied, not sent).
     * @throws std::invalid_argument unless the matrix is square and not empty, all sizes are
     *         non-negative, and no row holds more than 2^58 bytes.
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

    /**
     * The largest sum of a row, including the part that the rank keeps: the size of such a call.
     */
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

/** A message from one rank to another; never empty. */
struct Message
{
    uint32_t from{0}; //!< group ranks
    uint32_t to{0};
    Bytes bytes;
};

/**
 * The messages of a grouped send and receive: @p op over @p ranks ranks with @p bytes as in
 * CollectiveCall. Parts are bytes / ranks, rounded up. In all-to-all, gather and scatter a rank's
 * own part is a message to itself. O(messages).
 * @param traffic for an all-to-all of unequal parts, or null.
 */
std::vector<Message> MessagesOf(
    CollectiveOp op, uint32_t ranks, Bytes bytes, uint32_t root, const Traffic* traffic);

/** Whether @p op consists only of messages between pairs of ranks. */
bool IsPointToPoint(CollectiveOp op);

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_TRAFFIC_H
