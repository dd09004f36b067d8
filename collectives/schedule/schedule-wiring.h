// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_WIRING_H
#define WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_WIRING_H

#include "collectives/schedule/schedule.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

/**
 * A program with one primitive for each of @p chunks, which are relative to the block's position.
 * The i-th primitive uses the i-th connection.
 */
Program EachChunk(PrimitiveKind kind, const std::vector<int32_t>& chunks);

/** The two blocks of a device: one for chunks up to the root, one for chunks down. */
struct BlockPair
{
    uint32_t up{0};
    uint32_t down{0};
};

/** Adds blocks and the connections between them to a channel. */
class ScheduleWiring
{
  public:
    /** @p channel must outlive it, and has no programs but those added here. */
    explicit ScheduleWiring(ChannelSchedule& channel)
        : m_channel(channel)
    {
    }

    /**
     * Adds a block that runs @p program; equal programs are shared. @return the index of the block.
     */
    uint32_t AddBlock(uint32_t rank, uint32_t position, Program program);

    /** As above, for one primitive on the block's own chunk. */
    uint32_t AddBlock(
        uint32_t rank, uint32_t position, PrimitiveKind kind, uint32_t recvs, uint32_t sends);

    /**
     * Adds a connection, which becomes the last one in the lists of the sender and the receiver.
     * The ends of @p connection are set here. @return its indices in the two lists.
     */
    std::pair<uint16_t, uint16_t> Join(uint32_t from, uint32_t to, ScheduleConnection connection);

  private:
    ChannelSchedule& m_channel;
    std::unordered_multimap<uint64_t, uint32_t> m_programs; //!< indices, by hash
};

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_WIRING_H
