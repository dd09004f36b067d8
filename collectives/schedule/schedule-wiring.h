// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_WIRING_H
#define WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_WIRING_H

#include "collectives/schedule/schedule.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** One primitive on the block's own chunk. */
Program OneStep(PrimitiveKind kind, uint32_t recvs, uint32_t sends);

/** One primitive for each of some chunks, relative to the block's place, over the connection of the
 * same number. */
Program EachChunk(PrimitiveKind kind, const std::vector<int32_t>& chunks);

/** Whether the same links join the same blocks of two channels. */
bool HaveSameConnections(const ChannelSchedule& a,
                         const ChannelSchedule& b,
                         const Routing& routing);

/** Adds blocks and the pipes between them to a channel. */
class ScheduleWiring
{
  public:
    /** @p channel must outlive it. */
    explicit ScheduleWiring(ChannelSchedule& channel)
        : m_channel(channel)
    {
    }

    /** A block that runs @p program; an equal one that is there already is shared. @return its
     * index. */
    uint32_t AddBlock(uint32_t rank, uint32_t place, const Program& program);

    /**
     * A pipe; it becomes the next of the sender's and of the receiver's connections. The ends of
     * @p connection are set here.
     */
    void Join(uint32_t from, uint32_t to, ScheduleConnection connection);

  private:
    ChannelSchedule& m_channel;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_SCHEDULE_SCHEDULE_WIRING_H
